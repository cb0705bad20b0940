/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints the histograms of base/log2_hist.h to standard output. */
#ifndef HIST_H
#define HIST_H
#include "base/log2_hist.h"

/* Draws it in text as BCC does, from the first slot that counts something to the last.  The
 * unit is 2^shift of what the slots count. */
void hist_text(const unsigned long long *slots, const char *unit, int shift);

/* Prints a JSON array of [lo,hi,count], lo <= value <= hi, of the slots that count something. */
void hist_json(const unsigned long long *slots);

#endif
