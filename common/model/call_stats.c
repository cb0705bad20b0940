/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "abi/aggregate_group.h"
#include "api/cuda_fn.h"
#include "base/log2_hist.h"
#include "base/util.h"
#include "model/call_stats.h"

struct call_stats call_stats_of(const struct aggregates *aggregates, const struct aggregate *g, bool second)
{
	static const struct aggregate none = { .least = 1 };	/* more than .most: no values */
	const struct aggregate *other = (second ? aggregate_series(aggregates, g, AGGREGATE_SECOND) : NULL) ?: &none;

	return (struct call_stats){
		.pid = g->key.pid, .comm = g->comm, .func = cuda_fn_of(g->key.key)->name,
		.stack = g->key.stack, .calls = g->count + g->failed, .failed = g->failed,
		.count = g->count, .total = g->sum, .mean = g->count ? g->sum / g->count : NO_VALUE,
		.times = hist_spread(&g->hist, g->least, g->most), .hist = &g->hist,
		.second = second ? g->ns : NO_VALUE, .second_hist = &other->hist,
		.second_spread = hist_spread(&other->hist, other->least, other->most),
	};
}
