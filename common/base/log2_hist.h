/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Histograms in powers of two: slot n counts the values from 2^n to 2^(n+1) - 1, slot 0 also
 * counts 0. */
#ifndef LOG2_HIST_H
#define LOG2_HIST_H

enum { HIST_SLOTS = 64 };

/* The slot that counts a value. */
static inline int hist_slot(unsigned long long value)
{
	return value ? 63 - __builtin_clzll(value) : 0;
}

/* The smallest and the largest value that a slot counts. */
unsigned long long hist_low(int slot);
unsigned long long hist_high(int slot);

/* The value under which percent of all values lie, interpolated between the ends of its slot and
 * clamped to [least, most].  The true percentile is in the same slot, so less than a factor of two
 * away.  0 if there are no values. */
unsigned long long hist_percentile(const unsigned long long *slots, int percent,
				   unsigned long long least, unsigned long long most);

/* What a histogram's table has beside count and total. */
struct hist_spread { unsigned long long min, p50, p95, p99, max; };

/* Returns the spread of values of which least and most are the smallest and the largest: all are NO_VALUE
 * (base/util.h) if there are no values, when least must be larger than most. */
struct hist_spread hist_spread(const unsigned long long *slots, unsigned long long least,
			       unsigned long long most);

#endif
