/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Follows the mappings of the traced processes. */
#ifndef TARGET_WATCH_H
#define TARGET_WATCH_H

struct target;

/* Creates t->probes.watch and makes it report the command, or every process.  Warns if the kernel
 * does not report mappings: then target_tick() polls. */
void target_watch(struct target *t);

/* Call regularly: goes on detaching, and polls for new mappings, once a second, if the kernel does not
 * report them. */
void target_tick(struct target *t);

#endif
