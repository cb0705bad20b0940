/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* bpftrace as a child process. */
#ifndef BT_RUN_H
#define BT_RUN_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "cudabt/bt_files.h"
#include "cudabt/bt_trap.h"

/* bpftrace refuses more probes than this unless told to accept them. */
enum { BT_EXEC_PROBES = 512 };

struct bt_exec {
	int script, output;	/* what it reads, where it prints */
	int trap;		/* the socket to which the trap goes: bt_trap.h */
	int probes;
	bool json;
	bool names;		/* of the functions on stacks: of any process, see bt_maps.h */
	pid_t parent;
};

enum { BT_LINE = 64 * 1024 };	/* longer lines are passed on in pieces */

struct bt_output {		/* all zero: not open */
	bool open, json;
	int from;		/* the read end of the pipe, while it is open */
	char kept[BT_LINE + 1];	/* the start of a line; the last byte is for a terminating NUL */
	size_t nkept;
	bool within;		/* printed part of a line */
	bool printed, blank;	/* printed a line; there was an empty line after the last one */
};

struct bt_run {			/* all zero: not started */
	pid_t child;
	bool ended;
	int status;		/* as from waitpid(), once it has ended */
	struct bt_output output;
	int trap;		/* where it asks for what it may not do itself */
	bool said;		/* that functions are not named */
	struct bt_uprobes uprobes;
};

/* Starts it on a translated script for these files, printing JSON or text, which bt_output.h passes
 * on.  names: it may name functions on stacks of any process, see bt_maps.h.  It ends when the tool does.  Call bt_run_tend() until it has ended. */
void bt_run_start(struct bt_run *r, const struct bt_script *s, const struct bt_files *files, bool json,
		  bool names);

/* For ms milliseconds, does what it asks for; then passes its output on.  Call every few
 * milliseconds. */
void bt_run_tend(struct bt_run *r, int ms);

/* Return true if it was started, and if it has ended. */
bool bt_run_started(const struct bt_run *r);
bool bt_run_ended(struct bt_run *r);

/* Return true if it waits for events, which it does only after attaching its probes. */
bool bt_run_waits(const struct bt_run *r);

/* Asks it to end, waits until it has detached its probes and printed its maps, and returns its exit
 * status: 128 + N if signal N ended it, 0 if nobody reads its output any more. */
int bt_run_finish(struct bt_run *r);

/* Exits 1 and says how to get bpftrace if there is none. */
void bt_exec_find(void);

/* Call in the child: becomes bpftrace, which ends when the parent does. */
_Noreturn void bt_exec(const struct bt_exec *e);

#endif
