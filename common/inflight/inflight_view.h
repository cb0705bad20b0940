/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The calls in flight in the output. */
#ifndef INFLIGHT_INFLIGHT_VIEW_H
#define INFLIGHT_INFLIGHT_VIEW_H

struct inflight;

/* Prints the rows, longest calls first, and forgets them: the first ten in text, all in JSON. */
void inflight_view(struct inflight *r);

#endif
