/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The difference of two reports: the groups that hold more than before. */
#ifndef LEAK_GROWTH_H
#define LEAK_GROWTH_H
#include "cudaleak/leak_row.h"

/* Prints how a process grew since the report of view->options.mark; of the first report only what it
 * holds, in text. */
void leak_growth(const struct leak_view *view, const struct mem_process *process, const char *at);

#endif
