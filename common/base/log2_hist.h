/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Histograms: counted in the slots of base/hist_slot.h, for percentiles, and shown in rows, one for each power of two. */
#ifndef BASE_LOG2_HIST_H
#define BASE_LOG2_HIST_H
#include <stdbool.h>
#include "base/hist_slot.h"

/* Row n has the values from 2^n to 2^(n+1) - 1, row 0 also 0. */
enum { HIST_ROWS = 64 };

static inline unsigned int hist_log2(unsigned long long value)
{
	return value ? 63 - __builtin_clzll(value) : 0;
}

/* The slot of struct hist that counts a value, and the row. */
static inline unsigned int hist_slot_of(unsigned long long value)
{
	return hist_slot(value, hist_shift(hist_log2(value), HIST_BITS), HIST_BITS);
}

static inline unsigned int hist_row_of(unsigned long long value)
{
	return hist_log2(value);
}

/* The lowest and the highest value of a row. */
unsigned long long hist_row_low(unsigned int row);
unsigned long long hist_row_high(unsigned int row);

/* Adds a value n times, and all of another, of which it returns the number of values.  Counts that are too large stay at
 * 2^64 - 1. */
void hist_add(struct hist *h, unsigned long long value, unsigned long long n);
unsigned long long hist_join(struct hist *to, const struct hist *from);

/* Sets the rows. */
void hist_rows(const struct hist *h, unsigned long long rows[HIST_ROWS]);

/* Further values of a histogram's table.  A percentile is the smallest value that so many percent of all do
 * not exceed.  about_...: it is an estimate: only the slot of that value is known. */
struct hist_spread {
	unsigned long long min, p50, p95, p99, max;
	bool about_p50, about_p95, about_p99;
};

/* Returns the spread of values of which least and most are the smallest and the largest: all are NO_VALUE
 * (base/util.h) if there are no values, when least must be larger than most.  Estimates are at most 1/17 off. */
struct hist_spread hist_spread(const struct hist *h, unsigned long long least, unsigned long long most);

/* The same if only the rows are known.  Estimates are interpolated, and less than a factor of two off. */
struct hist_spread hist_rows_spread(const unsigned long long rows[HIST_ROWS], unsigned long long least,
				    unsigned long long most);

/* The same of counts in other slots, which are in ascending order; the last one with a count may have larger values, too. */
struct hist_range { unsigned long long low, high, n; };
struct hist_counts {
	const void *from;
	unsigned int slots;
	bool interpolate;	/* else the largest error is the same share of all values of a slot */
	struct hist_range (*range)(const void *from, unsigned int slot);
};
struct hist_spread hist_counts_spread(const struct hist_counts *counts, unsigned long long least, unsigned long long most);

#endif
