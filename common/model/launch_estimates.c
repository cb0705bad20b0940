/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "abi/launch.h"
#include "base/die.h"
#include "model/launch_estimates.h"

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

/* Returns the CPU time of the program itself, ns.  What a probe costs is measured, and may be wrong: it is at most three
 * quarters. */
static double own_time(const struct launch_time *from, const struct launch_time *to)
{
	double cpu = to->cpu > from->cpu ? to->cpu - from->cpu : 0, probes = to->probes > from->probes ? to->probes - from->probes : 0;

	return cpu - (probes < cpu * .75 ? probes : cpu * .75);
}

/* Returns the launches of the time since the last window that were not seen. */
static double unseen(const struct launch_estimate *e, const struct launch_time *now)
{
	double all = e->gap ? e->rate * own_time(&e->ended, now) : 0, seen = e->count - e->at;

	return all > seen ? all - seen : 0;
}

void launch_estimate_window(struct launch_estimate *e, const struct launch_time *now)
{
	e->closed += unseen(e, now);
	e->gap = false;
	e->before = e->count;
	e->began = *now;
}

void launch_estimate_gap(struct launch_estimate *e, const struct launch_time *now)
{
	unsigned long long launches = e->count - e->before;
	double ns = own_time(&e->began, now);

	if (ns > 0 || !launches)	/* a CPU without a tick has counted no time yet */
		e->rate = launches ? launches / ns : 0;
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
