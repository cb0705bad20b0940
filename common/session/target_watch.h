/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Follows what the traced processes map. */
#ifndef TARGET_WATCH_H
#define TARGET_WATCH_H

struct target;

/* Makes t->probes.watch, and has it tell of the command, or of every process; says so if the
 * kernel does not tell: then target_tick() looks. */
void target_watch(struct target *t);

/* Something to do now and then: looks for new mappings where the kernel does not tell. */
void target_tick(struct target *t);

#endif
