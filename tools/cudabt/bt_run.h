/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* bpftrace, as a child process. */
#ifndef BT_RUN_H
#define BT_RUN_H
#include <stdbool.h>
#include <stddef.h>

/* More than these bpftrace refuses if it is not told to take them. */
enum { BT_RUN_PROBES = 512 };

/* Exits 1, saying how to get it, if there is no bpftrace. */
void bt_run_find(void);

/* Starts it on a script, for so many probes, printing JSON or text, which bt_output.h passes on.  It
 * ends if the tool does. */
void bt_run_start(const char *script, size_t len, int probes, bool json);

/* Was it started?  Has it ended? */
bool bt_run_started(void);
bool bt_run_ended(void);

/* Does it wait for events?  Before it has placed its probes it does not. */
bool bt_run_waits(void);

/* Asks it to end, which it does when it has taken its probes out and printed its maps.  Waits for
 * that and returns its exit status, 128 + N if signal N ended it; 0 if nobody reads its output
 * any more. */
int bt_run_finish(void);

#endif
