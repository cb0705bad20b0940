/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* bpftrace as a child process. */
#ifndef CUDABT_BT_RUN_H
#define CUDABT_BT_RUN_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "cudabt/bt_trap.h"

/* bpftrace accepts more probes only with BPFTRACE_MAX_PROBES and BPFTRACE_MAX_BPF_PROGS. */
enum { BT_MAX_PROBES = 512 };

enum { BT_LINE = 64 * 1024 };	/* longer lines are printed in pieces */

/* bpftrace's output, escaped: it contains raw strings of the traced programs. */
struct bt_output {		/* all zero: not open */
	bool open, json;
	int from;		/* the read end of the pipe, while it is open */
	char buffer[BT_LINE + 1];	/* the start of a line; the last byte is for a terminating NUL */
	size_t nbuffer;
	bool within;		/* printed part of a line */
	bool printed, blank;	/* printed a line; an empty line followed the last one */
};

struct bt_run {			/* all zero: not started */
	pid_t child;
	bool ended;
	int status;		/* as from waitpid(), once it has ended */
	struct bt_output output;
	struct bt_trap trap;
};

/* Exits 1 if bpftrace is not found. */
void bt_run_find(void);

/* Starts bpftrace on a translated script for these files; prints its output, JSON or text.  names: it may
 * name functions on stacks of any process.  It ends when the tool does.  Call bt_run_serve() until it has
 * ended. */
void bt_run_start(struct bt_run *r, const struct bt_script *s, const struct bt_files *files, bool json,
		  bool names);

/* Answers its trapped system calls for ms milliseconds, then prints its output.  Call every few
 * milliseconds. */
void bt_run_serve(struct bt_run *r, int ms);

/* Return true if it was started, and if it has ended. */
bool bt_run_started(const struct bt_run *r);
bool bt_run_ended(struct bt_run *r);

/* Return true if it waits for events, as it does only after attaching its probes. */
bool bt_run_waits(const struct bt_run *r);

/* Interrupts it, waits until it has detached its probes and printed its maps, and returns its exit
 * status: 128 + N if signal N ended it, 0 if the tool's output is not read any more. */
int bt_run_finish(struct bt_run *r);

#endif
