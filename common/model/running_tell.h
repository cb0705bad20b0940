/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Warnings of calls in flight that are not shown.  Private to running.c. */
#ifndef RUNNING_TELL_H
#define RUNNING_TELL_H

struct running;

/* Call after each round: warns of what is new in it. */
void running_tell(struct running *r);

#endif
