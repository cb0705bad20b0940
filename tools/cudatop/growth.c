/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdbool.h>
#include "cudatop/growth.h"
#include "cudatop/limits.h"

static unsigned long long limit_ns(enum top_limit s)
{
	return top_limits[s] * 1e9;
}

void growth_see(struct top_growth *g, unsigned long long is, unsigned long long other, unsigned long long now)
{
	if (is <= g->peak)
		return;
	if (!g->grew || now - g->grew >= limit_ns(LIMIT_GREW_WITHIN_S)) {
		g->since = now;
		g->from = g->grew ? g->peak : is;
		g->other_from = other;
	}
	g->grew = now;
	g->peak = is;
	g->other = other;
}

/* Each holds much memory. */
static bool is_large(int kind)
{
	return kind == CUDA_CONTEXT_HANDLE || kind >= CUDA_CUBLAS_HANDLE;
}

static double growth_limit(enum top_grows what)
{
	if (what >= GROWS_HANDLES)
		return top_limits[is_large(CUDA_CODE + (int)(what - GROWS_HANDLES)) ? LIMIT_LARGE_BY : LIMIT_HANDLES_BY];
	return top_limits[what == GROWS_USED ? LIMIT_USED_BY : LIMIT_GROWS_BY];
}

static bool growth_is(const struct top_growth *g, enum top_grows what, unsigned long long now)
{
	const unsigned long long by = g->peak - g->from;

	if (what == GROWS_USED && g->other > g->other_from && 2 * (g->other - g->other_from) >= by)	/* it is allocated memory */
		return false;
	return now - g->grew < limit_ns(LIMIT_GREW_WITHIN_S) && g->grew - g->since >= limit_ns(LIMIT_GROWS_FOR_S) &&
	       by >= growth_limit(what);
}

struct top_grown growth_most(const struct top_growth *all, enum top_grows first, enum top_grows last, unsigned long long now)
{
	struct top_grown most = { 0 };

	for (enum top_grows i = first; i <= last; i++) {
		const struct top_growth *g = &all[i];
		const double share = growth_is(g, i, now) ? (double)(g->peak - g->from) / g->peak : 0;

		if (share > most.share)
			most = (struct top_grown){
				i, g->peak - g->from, g->other > g->other_from ? g->other - g->other_from : 0, (g->grew - g->since) / 1e9, share,
			};
	}
	return most;
}
