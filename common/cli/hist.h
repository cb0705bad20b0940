/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints histograms (base/log2_hist.h) to standard output. */
#ifndef HIST_H
#define HIST_H
#include "base/log2_hist.h"

/* Draws a text histogram as BCC does, from the first non-zero slot to the last.  The unit is
 * 2^shift times that of the slots. */
void hist_text(const unsigned long long *slots, const char *unit, int shift);

/* Prints a JSON array of [lo,hi,count], lo <= value <= hi, for the non-zero slots. */
void hist_json(const unsigned long long *slots);

#endif
