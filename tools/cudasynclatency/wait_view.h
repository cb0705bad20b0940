/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What cudasynclatency prints about threads. */
#ifndef WAIT_VIEW_H
#define WAIT_VIEW_H

struct containers;
struct wait_threads;

/* Prints the threads, longest waits first, and forgets them: the first ten in text, all in JSON.
 * containers: the target's.  now is CLOCK_MONOTONIC in ns, where the next report's interval begins. */
void wait_view_threads(struct wait_threads *threads, struct containers *containers, unsigned long long now);

#endif
