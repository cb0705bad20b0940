/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/log2_hist.h"
#include "base/util.h"

unsigned long long hist_low(int slot)
{
	return slot ? 1ull << slot : 0;
}

unsigned long long hist_high(int slot)
{
	return (2ull << slot) - 1;	/* 2^64 - 1 for slot 63 */
}

unsigned long long hist_percentile(const unsigned long long *slots, int percent,
				   unsigned long long least, unsigned long long most)
{
	double total = 0, want, value = 0;

	for (int i = 0; i < HIST_SLOTS; i++)
		total += slots[i];
	want = total * percent / 100;
	for (int i = 0; i < HIST_SLOTS; i++) {
		double lo = hist_low(i) > least ? hist_low(i) : least;
		double hi = hist_high(i) < most ? hist_high(i) : most;

		if (!slots[i])
			continue;
		value = lo + (hi - lo) * (want / slots[i]);
		if (want <= slots[i])
			break;
		want -= slots[i];
	}
	if (value <= least || !total)
		return total ? least : 0;
	return value >= most ? most : (unsigned long long)value;
}

struct hist_spread hist_spread(const unsigned long long *slots, unsigned long long least,
			       unsigned long long most)
{
	if (least > most)
		return (struct hist_spread){ NO_VALUE, NO_VALUE, NO_VALUE, NO_VALUE, NO_VALUE };
	return (struct hist_spread){
		.min = least, .max = most, .p50 = hist_percentile(slots, 50, least, most),
		.p95 = hist_percentile(slots, 95, least, most), .p99 = hist_percentile(slots, 99, least, most),
	};
}
