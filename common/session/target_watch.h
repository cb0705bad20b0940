/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What target.c needs to follow what the traced processes map.  (target_tick() is in target.h.) */
#ifndef TARGET_WATCH_H
#define TARGET_WATCH_H

struct target;

/* Makes t->probes.watch, and has it tell of the command, or of every process; says so if the
 * kernel does not tell: then target_tick() looks. */
void target_watch(struct target *t);

/* Exits if t->probes.failure is set. */
void target_check(const struct target *t);

#endif
