/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "abi/launch.h"
#include "model/launch_estimates.h"
#include "models.h"

static void print(const char *what, struct launch_estimate *e, unsigned long long now)
{
	printf("{\"what\":\"%s\",\"who\":\"estimate\",\"got\":%llu}\n", what, launch_estimate_value(e, now));
}

/* Two counts of one key: it is counted on two CPUs. */
static void read_counts(struct launch_estimates *e, const struct export_key *key, unsigned long long one, unsigned long long other)
{
	launch_estimates_begin(e);
	launch_estimates_add(e, key, one, true);
	launch_estimates_add(e, key, other, false);
}

void models_estimates(void)
{
	struct export_key key = { .what = EXPORT_LAUNCH, .pid = 7 }, graph = key, copy = key;
	struct launch_estimates all = { 0 };
	struct launch_estimate *e;

	graph.detail = LAUNCH_GRAPH;
	copy.what = EXPORT_COPY;
	launch_estimates_add(&all, &graph, 3, true);
	launch_estimates_add(&all, &copy, 3, true);
	launch_estimates_add(&all, &key, 3, false);
	printf("{\"what\":\"none\",\"who\":\"estimate\",\"got\":%u}\n", HASH_COUNT(all.all));

	read_counts(&all, &key, 1000, 9);
	e = all.all;
	launch_estimate_window(e, 1000);
	print("a window", e, 1500);
	read_counts(&all, &key, 1050, 60);	/* 101 more in 1010 ns */
	launch_estimate_gap(e, 1000, 2010);
	print("the end of it", e, 2010);
	print("a gap", e, 4030);
	read_counts(&all, &key, 1050, 89);	/* 29 of them were seen after all: it was 202 */
	print("a gap, and less", e, 4030);
	print("a longer gap", e, 4040 + 3000);
	launch_estimate_window(e, 4040 + 3000);
	print("the next window", e, 9000);
	read_counts(&all, &key, 1050, 89);	/* none */
	launch_estimate_gap(e, 7040, 9000);
	print("a gap without launches", e, 100000);
	launch_estimates_free(&all);
}
