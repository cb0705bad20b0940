/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Series as a page, in Prometheus's text format 0.0.4 or OpenMetrics 1.0. */
#ifndef PAGE_H
#define PAGE_H
#include <stdbool.h>
#include <stdio.h>
#include "cudaexporter/series.h"

/* reader: whom the page is for, a number below SCRAPERS, or -1.  A counter begins at 0 for each reader, whatever it
 * has counted by then, unless another reader has seen it before this one came: increase() of one that appears at 5 is
 * nothing, and of one that goes from 0 to 5 it is 5. */
void page_print(FILE *f, struct series_table *t, bool openmetrics, int reader);

#endif
