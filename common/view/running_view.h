/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The calls in flight in the output. */
#ifndef RUNNING_VIEW_H
#define RUNNING_VIEW_H

struct running;

/* Prints the rows, longest calls first, and forgets them: the first ten in text, all in JSON. */
void running_view(struct running *r);

#endif
