/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* bpftrace, as a child process. */
#ifndef BT_RUN_H
#define BT_RUN_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "cudabt/bt_output.h"

/* More than these bpftrace refuses if it is not told to take them. */
enum { BT_RUN_PROBES = 512 };

struct bt_run {			/* all zero: not started */
	pid_t child;
	bool ended;
	int status;		/* as waitpid() has it, once it has ended */
	struct bt_output output;
};

/* Exits 1, saying how to get it, if there is no bpftrace. */
void bt_run_find(void);

/* Starts it on a script, for so many probes, printing JSON or text, which bt_output.h passes on.  It
 * ends if the tool does. */
void bt_run_start(struct bt_run *r, const char *script, size_t len, int probes, bool json);

/* Return true if it was started; if it has ended. */
bool bt_run_started(const struct bt_run *r);
bool bt_run_ended(struct bt_run *r);

/* Return true if it waits for events.  Before it has placed its probes it does not. */
bool bt_run_waits(const struct bt_run *r);

/* Asks it to end, which it does when it has taken its probes out and printed its maps.  Waits for
 * that and returns its exit status, 128 + N if signal N ended it; 0 if nobody reads its output
 * any more. */
int bt_run_finish(struct bt_run *r);

#endif
