/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* When cudalaunchtop's probes of the runtime's launches are needed.  A launch passes a probe there
 * and one in the driver, which would do to count it: the runtime's tells which kernel the driver's
 * function is, and of launches that the runtime refuses.  So it is taken out while every function
 * that is launched is known, and put in again when one is not. */
#ifndef LAUNCH_PROBES_H
#define LAUNCH_PROBES_H
#include <stdbool.h>

struct target;

/* After load, before anything is attached: the probes of t->probes.toggle_classes come and
 * go from now on.  refused: the probes' launches_refused.  Both must stay. */
void launch_probes_init(struct target *t, const unsigned long long *refused);

/* To be called every few milliseconds. */
void launch_probes_tick(void);

#endif
