/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints the rows of cudasynclatency, and its threads. */
#ifndef WAIT_VIEW_H
#define WAIT_VIEW_H

#include "cudasynclatency/wait_row.h"

struct containers;
struct wait_threads;

/* Prints a row as text, as JSON or as a line for flame graphs. */
void wait_view_row(const struct wait_view *view, const struct wait_row *row);

/* Prints the threads, longest waits first, and forgets them: the first ten in text, all in JSON.
 * containers: the target's.  now is CLOCK_MONOTONIC in ns, where the next report's interval begins. */
void wait_view_threads(struct wait_threads *threads, struct containers *containers, unsigned long long now);

#endif
