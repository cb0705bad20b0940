/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Warnings of calls in flight that are not shown.  Private to running.c. */
#ifndef INFLIGHT_TELL_H
#define INFLIGHT_TELL_H

struct inflight;

/* Call after each round: warns of what is new in it. */
void inflight_tell(struct inflight *r);

#endif
