/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "abi/gpu.h"
#include "base/util.h"
#include "cudakerneltime/time_steps.h"

/* Values below 2^(bits + 1) have a step each; from there, an octave has 2^bits. */
static unsigned step_of(unsigned long long ns, unsigned bits)
{
	unsigned log2 = 63 - __builtin_clzll(ns | 1);

	if (log2 <= bits)
		return ns;
	return ((log2 - bits) << bits) + (ns >> (log2 - bits));
}

static unsigned long long step_low(unsigned step, unsigned bits)
{
	unsigned octave = step >> bits;

	if (octave < 2)
		return step;
	return ((unsigned long long)(step & ((1u << bits) - 1)) + (1ull << bits)) << (octave - 1);
}

static unsigned long long clamp(unsigned long long ns, unsigned long long min, unsigned long long max)
{
	return ns > max ? max : ns < min ? min : ns;
}

void time_steps_add(struct time_steps *t, unsigned long long ns)
{
	unsigned step = step_of(ns, 4);

	if (!t->count++ || ns < t->min)
		t->min = ns;
	if (ns > t->max)
		t->max = ns;
	t->total += ns;
	t->n[step < TIME_STEPS ? step : TIME_STEPS - 1]++;
}

void time_steps_join(struct time_steps *t, const struct time_steps *more)
{
	if (!t->count || (more->count && more->min < t->min))
		t->min = more->min;
	if (more->max > t->max)
		t->max = more->max;
	t->count += more->count;
	t->total += more->total;
	for (unsigned i = 0; i < TIME_STEPS; i++)
		t->n[i] += more->n[i];
}

/* The middle of the step that has the value below which percent of all lie. */
static unsigned long long percentile(const struct time_steps *t, unsigned percent)
{
	unsigned long long want = (t->count * percent + 99) / 100, seen = 0;
	unsigned step = 0;

	while (step < TIME_STEPS - 1 && (seen += t->n[step]) < want)
		step++;
	return clamp((step_low(step, 4) + step_low(step + 1, 4) - 1) / 2, t->min, t->max);
}

struct hist_totals time_steps_totals(const struct time_steps *t)
{
	if (!t->count)
		return (struct hist_totals){ .spread = { NO_VALUE, NO_VALUE, NO_VALUE, NO_VALUE, NO_VALUE } };
	return (struct hist_totals){
		.count = t->count, .total = t->total,
		.spread = { t->min, percentile(t, 50), percentile(t, 95), percentile(t, 99), t->max },
	};
}

void time_steps_log2(const struct time_steps *t, unsigned long long *slots)
{
	for (unsigned i = 0; i < TIME_STEPS; i++) {
		if (t->n[i])
			slots[63 - __builtin_clzll(step_low(i, 4) | 1)] += t->n[i];
	}
}

unsigned long long gpu_step_ns(unsigned step, unsigned long long min, unsigned long long max)
{
	if (step >= GPU_STEPS - 1)
		return max;
	return clamp((step_low(step, 2) + step_low(step + 1, 2) - 1) / 2, min, max);
}
