/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* bpftrace as a child process. */
#ifndef BT_RUN_H
#define BT_RUN_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "cudabt/bt_files.h"
#include "cudabt/bt_output.h"
#include "cudabt/bt_uprobes.h"

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

#endif
