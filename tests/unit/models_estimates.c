/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "abi/launch.h"
#include "model/launch_estimates.h"
#include "models.h"

static void print(const char *what, struct launch_estimate *e, unsigned long long cpu, unsigned long long probes)
{
	const struct launch_time now = { cpu, probes };


	printf("{\"what\":\"%s\",\"who\":\"estimate\",\"got\":%llu}\n", what, launch_estimate_value(e, &now));
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
	launch_estimate_window(e, &(struct launch_time){ 1000, 300 });
	print("a window", e, 1500, 300);
	read_counts(&all, &key, 1050, 60);	/* 101 more in 1010 ns, and 500 of probes */
	launch_estimate_gap(e, &(struct launch_time){ 2510, 800 });
	print("the end of it", e, 2510, 800);
	print("a gap", e, 4630, 900);
	read_counts(&all, &key, 1050, 89);	/* 29 of them were seen after all: it was 202 */
	print("a gap, and less", e, 4630, 900);
	print("a longer gap", e, 7640, 900);
	launch_estimate_window(e, &(struct launch_time){ 7640, 900 });
	print("the next window", e, 9000, 900);
	read_counts(&all, &key, 1050, 109);	/* 20 in 100 ns, as probes take at most 300 of 400 */
	launch_estimate_gap(e, &(struct launch_time){ 8040, 1400 });
	print("a gap after dear probes", e, 9040, 1400);
	launch_estimate_window(e, &(struct launch_time){ 9040, 1400 });
	read_counts(&all, &key, 1050, 121);	/* 12, and no time has passed yet: as before */
	launch_estimate_gap(e, &(struct launch_time){ 9040, 1400 });
	print("a gap after no time", e, 9140, 1400);
	print("a gap after the end", e, 0, 0);
	launch_estimate_window(e, &(struct launch_time){ 9140, 1400 });
	launch_estimate_gap(e, &(struct launch_time){ 9240, 1400 });
	print("a gap without launches", e, 100000, 1400);
	launch_estimates_free(&all);
}
