/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints histograms (base/log2_hist.h) to standard output. */
#ifndef CLI_HIST_H
#define CLI_HIST_H
#include "base/log2_hist.h"
#include "cli/out.h"

/* Total of a histogram, in its unit; NO_VALUE prints as -. */
struct hist_totals {
	unsigned long long count, total;
	struct hist_spread spread;
};

/* Prints headings and a row: COUNT TOTAL MIN P50 P95 P99 MAX, with ~ before estimates. */
void hist_table(const struct hist_totals *totals, enum out_unit unit);

/* Draws a text histogram as BCC does, from the first row with a count to the last, with the bounds of each:
 * "16.8 ms -> 33.6 ms", "1M -> 2M". */
void hist_text(const struct hist *h, enum out_unit unit);
void hist_rows_text(const unsigned long long rows[HIST_ROWS], enum out_unit unit);

/* Prints a JSON array of [lo,hi,count], lo <= value <= hi, for the rows with a count. */
void hist_json(const struct hist *h);
void hist_rows_json(const unsigned long long rows[HIST_ROWS]);

#endif
