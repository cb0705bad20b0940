/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Follows the mappings of the traced processes. */
#ifndef TARGET_WATCH_H
#define TARGET_WATCH_H

struct target;

/* Creates t->probes.watch and makes it report the command, or every process.  Warns if the kernel
 * does not report mappings: then target_tick() polls.  With --attach inject there is nothing to watch. */
void target_watch(struct target *t);

/* Probes what a watched process has mapped; 0: what any has. */
void target_scan_new(struct target *t, int pid);

/* Call regularly: goes on detaching, and polls for new mappings, once a second, if the kernel does not
 * report them. */
void target_tick(struct target *t);

#endif
