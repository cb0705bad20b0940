/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Histograms in powers of two: slot n counts the values from 2^n to 2^(n+1) - 1, slot 0 also
 * those that are 0. */
#ifndef LOG2_HIST_H
#define LOG2_HIST_H

enum { HIST_SLOTS = 64 };

/* The least and the largest value that a slot counts. */
unsigned long long hist_low(int slot);
unsigned long long hist_high(int slot);

/* The value below which percent of all are, by interpolation between the ends of its slot, and
 * not outside least and most.  The true one is in the same slot: less than a factor of two
 * away.  0 if there are none. */
unsigned long long hist_percentile(const unsigned long long *slots, int percent,
				   unsigned long long least, unsigned long long most);

#endif
