/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The steps of a tool from its command line to its exit status, in the order that is the same for all:
 * options, open, load, attach, the loop, detach, losses.  A main has what is its own in hooks. */
#ifndef TOOL_H
#define TOOL_H
#include <stdbool.h>
#include "cli/opt.h"
#include "session/event_loop.h"
#include "session/target.h"

struct field;

struct tool {
	const struct usage *usage;
	const struct opt *opts;
	bool interval;			/* takes the operands [interval [count]] */
	struct target *target;
	struct event_loop *events;
	const unsigned *classes;	/* what to probe, see target_attach(); it may be set by check() … */
	const struct probe_source *source;	/* … or, not NULL, the functions of another table */
	const bool *stacks;		/* an option: target->syms is made where it is set; or NULL */
	const struct field *fields;	/* the head of this table is printed before the loop; or NULL */
	const char *tracepoints;	/* of the tool's programs, for an error; NULL: the common ones */
	void *ctx;			/* for the hooks, which are called in this order; NULL: nothing to do */

	/* Takes other operands, from argv[first] on; without it there are none. */
	void (*operands)(void *ctx, int argc, char **argv, int first);
	/* The command line is read: checks it. */
	void (*check)(void *ctx);
	/* The target is known. */
	void (*prepare)(void *ctx);
	/* Opens the tool's skeleton, sets its read-only data and the sizes of its
	 * maps, and returns it; NULL with errno set.  The first member of every skeleton is its struct
	 * bpf_object_skeleton *.  tool_run() destroys it.
	 * Without this hook the tool has no BPF programs. */
	void *(*open)(void *ctx);
	/* The programs are loaded, nothing is attached. */
	void (*loaded)(void *ctx);
	/* Everything is attached: prints a head. */
	void (*start)(void *ctx);
	/* The loop has ended by signal sig (0: by itself); the probes are in.  Returns the signal that
	 * the command of -c is to get.  NULL: calls events->report unless the count was reached. */
	int (*stop)(void *ctx, int sig);
	/* All is detached and said.  Returns the exit status; this is what it would be. */
	int (*close)(void *ctx, int status);
};

/* Runs the tool; returns the status to exit with.  Exits on a mistake in the options, and where tracing
 * cannot begin. */
int tool_run(const struct tool *tool, int argc, char **argv);

#endif
