/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* bpftrace as a child process. */
#ifndef BT_RUN_H
#define BT_RUN_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "cudabt/bt_output.h"

/* bpftrace refuses more probes than this unless told to accept them. */
enum { BT_RUN_PROBES = 512 };

struct bt_run {			/* all zero: not started */
	pid_t child;
	bool ended;
	int status;		/* as from waitpid(), once it has ended */
	struct bt_output output;
};

/* Exits 1 and says how to get bpftrace if there is none. */
void bt_run_find(void);

/* Starts it on a script with this many probes, printing JSON or text, which bt_output.h passes on.
 * It ends when the tool does. */
void bt_run_start(struct bt_run *r, const char *script, size_t len, int probes, bool json);

/* Return true if it was started, and if it has ended. */
bool bt_run_started(const struct bt_run *r);
bool bt_run_ended(struct bt_run *r);

/* Return true if it waits for events, which it does only after attaching its probes. */
bool bt_run_waits(const struct bt_run *r);

/* Asks it to end, waits until it has detached its probes and printed its maps, and returns its exit
 * status: 128 + N if signal N ended it, 0 if nobody reads its output any more. */
int bt_run_finish(struct bt_run *r);

#endif
