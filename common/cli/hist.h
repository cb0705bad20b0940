/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Histograms in powers of two: slot n counts the values from 2^n to 2^(n+1) - 1, slot 0 also
 * those that are 0. */
#ifndef HIST_H
#define HIST_H

enum { HIST_SLOTS = 64 };

/* Draws it in text as BCC does, from the first slot that counts something to the last.  The
 * unit is 2^shift of what the slots count. */
void hist_text(const unsigned long long *slots, const char *unit, int shift);

/* A JSON array of [lo,hi,count], lo <= value <= hi, of the slots that count something. */
void hist_json(const unsigned long long *slots);

/* The value below which percent of all are, by interpolation between the ends of its slot, and
 * not outside least and most.  The true one is in the same slot: less than a factor of two
 * away.  0 if there are none. */
unsigned long long hist_percentile(const unsigned long long *slots, int percent,
				   unsigned long long least, unsigned long long most);

#endif
