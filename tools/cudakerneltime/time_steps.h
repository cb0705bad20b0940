/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Times in steps of a sixteenth of an octave: a percentile is at most 3 percent off. */
#ifndef TIME_STEPS_H
#define TIME_STEPS_H
#include <stdint.h>
#include "cli/hist.h"

/* Up to 2^41 ns, 36 minutes; the last step also counts what is longer. */
enum { TIME_STEPS = 16 * 38 };

/* All starts zeroed. */
struct time_steps {
	unsigned long long count, total, min, max;	/* ns */
	uint32_t n[TIME_STEPS];
};

void time_steps_add(struct time_steps *t, unsigned long long ns);

/* Adds what another has. */
void time_steps_join(struct time_steps *t, const struct time_steps *more);

/* Returns what hist_table() prints. */
struct hist_totals time_steps_totals(const struct time_steps *t);

/* Adds the counts to HIST_SLOTS slots of base/log2_hist.h. */
void time_steps_log2(const struct time_steps *t, unsigned long long *slots);

/* Returns the time in the middle of a quarter of an octave (abi/gpu.h: enum gpu_step), within [min, max]. */
unsigned long long gpu_step_ns(unsigned step, unsigned long long min, unsigned long long max);

#endif
