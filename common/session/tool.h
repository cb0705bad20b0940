/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The steps of a tool from its command line to its exit status, in an order common to all tools:
 * options, open, load, attach, event loop, detach, losses.  Each tool implements the hooks of struct tool.
 *
 * How its probes get into programs is the choice of session/backend.h. */
#ifndef SESSION_TOOL_H
#define SESSION_TOOL_H
#include <stdbool.h>
#include "abi/stack_frames.h"	/* struct stack_config, which skeletons have */
#include "cli/opt.h"
#include "session/event_loop.h"
#include "session/session.h"

struct field;
struct gpuprobe;
struct profile;

struct tool {
	const struct usage *usage;
	const struct opt *opts;
	bool interval;			/* takes the operands [interval [count]] */
	struct session *session;
	struct event_loop *events;
	struct gpuprobe *gpuprobe;	/* of a GPU probe tool, else NULL */
	const unsigned *classes;	/* for session_attach(); check() may set them … */
	const struct probe_source *source;	/* … or functions of another table, if not NULL */
	bool *stacks;			/* the option --stacks, which the other options of call stacks
					 * set too, and check() may: the programs take stacks, which
					 * need session->syms; or NULL */
	const bool *folded;		/* the option --folded, which sets *stacks, excludes --json and
					 * prints no head; or NULL */
	struct profile *profile;	/* with --pprof, its path is set, which sets *stacks: tool_run() writes it when
					 * stop() has returned; or NULL */
	const struct field *fields;	/* print the head of this table before the loop; or NULL */
	const char *tracepoints;	/* the programs', for an error; NULL: the common ones */
	bool devices;			/* its programs follow devices: see bpf/lib/device.bpf.h */
	void *ctx;			/* for the hooks, called in this order; each may be NULL */

	/* Takes other operands, from argv[first] on; without this hook the tool takes none. */
	void (*operands)(void *ctx, int argc, char **argv, int first);
	/* Checks the options after the command line is read. */
	void (*check)(void *ctx);
	/* Called when the session is known, before the command starts. */
	void (*prepare)(void *ctx);
	/* Opens the tool's skeleton, sets its read-only data and the sizes of its maps, and returns
	 * it, or NULL with errno set.  The first member of every skeleton is its struct
	 * bpf_object_skeleton *.  tool_run() destroys it.  Without this hook the tool has no BPF
	 * programs. */
	void *(*open)(void *ctx);
	/* Called when the programs are loaded and nothing is attached yet. */
	void (*loaded)(void *ctx);
	/* Called when everything is attached: prints a head. */
	void (*start)(void *ctx);
	/* Called when signal sig has ended the loop (0: no signal); the probes are still attached.
	 * Returns the signal to send to the command of -c.  NULL: events->report is called unless
	 * the count was reached. */
	int (*stop)(void *ctx, int sig);
	/* Called when everything is detached and losses are printed.  Returns the exit status;
	 * status is the default. */
	int (*close)(void *ctx, int status);
};

/* Runs the tool; returns the status to exit with.  Exits on a usage error, or if tracing cannot
 * start. */
int tool_run(const struct tool *tool, int argc, char **argv);

#endif
