/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What cudasynclatency prints of threads. */
#ifndef WAIT_VIEW_H
#define WAIT_VIEW_H

struct wait_threads;

/* Prints them and forgets them, the longest waits first: in text the first ten, in JSON all.  now:
 * CLOCK_MONOTONIC in ns, from which the next report's time counts. */
void wait_view_threads(struct wait_threads *threads, unsigned long long now);

#endif
