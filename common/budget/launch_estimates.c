/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "abi/launch.h"
#include "base/die.h"
#include "budget/launch_estimates.h"

bool launch_estimates_wants(const struct export_key *key)
{
	return key->what == EXPORT_LAUNCH && key->detail != LAUNCH_GRAPH;
}

void launch_estimates_begin(struct launch_estimates *e)
{
	for (struct launch_estimate *k = e->all; k; k = k->hh.next)
		k->count = 0;
}

void launch_estimates_add(struct launch_estimates *e, const struct export_key *key, unsigned long long count, bool add)
{
	struct launch_estimate *k;

	if (!launch_estimates_wants(key))
		return;
	HASH_FIND(hh, e->all, key, sizeof(*key), k);
	if (!k && !add)
		return;
	if (!k) {
		k = xcalloc(1, sizeof(*k));
		k->key = *key;
		HASH_ADD(hh, e->all, key, sizeof(k->key), k);
	}
	k->count += count;
}

static double between(unsigned long long from, unsigned long long to)
{
	return to > from ? to - from : 0;
}

/* Returns a time without that of probes.  What a probe costs is measured, and may be wrong: it is at most three quarters. */
static double without(double ns, double probes)
{
	return ns - (probes < ns * .75 ? probes : ns * .75);
}

/* Returns the launches of the time since the last window that were not seen. */
static double unseen(const struct launch_estimate *e, const struct launch_time *now)
{
	double probes = between(e->ended.probes, now->probes), seen = e->count - e->at;
	double by_clock = e->clock_rate * without(between(e->ended.clock, now->clock), probes);
	double all = e->rate * without(between(e->ended.cpu, now->cpu), probes);

	if (all > 2 * by_clock)
		all = 2 * by_clock;
	return e->gap && all > seen ? all - seen : 0;
}

void launch_estimate_window(struct launch_estimate *e, const struct launch_time *now)
{
	e->closed += unseen(e, now);
	e->gap = false;
	e->before = e->count;
}

void launch_estimate_gap(struct launch_estimate *e, const struct launch_time *began, const struct launch_time *now)
{
	double clock = between(began->clock, now->clock), cpu = between(began->cpu, now->cpu);
	double probes = between(began->probes, now->probes), launches = e->count - e->before;

	if (cpu < probes)	/* of a CPU without ticks */
		cpu = clock;
	e->rate = cpu > 0 ? launches / without(cpu, probes) : 0;
	e->clock_rate = clock > 0 ? launches / without(clock, probes) : 0;
	e->at = e->count;
	e->gap = true;
	e->ended = *now;
}

unsigned long long launch_estimate_value(struct launch_estimate *e, const struct launch_time *now)
{
	unsigned long long value = e->closed + unseen(e, now);

	if (value > e->shown)
		e->shown = value;
	return e->shown;
}

void launch_estimates_drop(struct launch_estimates *e, struct launch_estimate *one)
{
	HASH_DEL(e->all, one);
	free(one);
}

void launch_estimates_free(struct launch_estimates *e)
{
	struct launch_estimate *k, *next;

	HASH_ITER(hh, e->all, k, next)
		launch_estimates_drop(e, k);
}
