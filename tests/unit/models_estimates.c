/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "abi/launch.h"
#include "budget/launch_estimates.h"
#include "models.h"

static void print(const char *what, struct launch_estimate *e, struct launch_time now)
{
	printf("{\"what\":\"%s\",\"who\":\"estimate\",\"got\":%llu}\n", what, launch_estimate_value(e, &now));
}

#define AT(...) (struct launch_time){ __VA_ARGS__ }	/* by the clock, CPU time, of probes */

/* Two counts of one key: it is counted on two CPUs. */
static void read_counts(struct launch_estimates *e, const struct export_key *key, unsigned long long one, unsigned long long other)
{
	launch_estimates_begin(e);
	launch_estimates_add(e, key, one, true);
	launch_estimates_add(e, key, other, false);
}

void models_estimates(void)
{
	struct export_key key = { .what = EXPORT_LAUNCH, .pid = 7 }, graph = key, copy = key, other = key;
	struct launch_estimates all = { 0 };
	struct launch_estimate *e;

	graph.detail = LAUNCH_GRAPH;
	copy.what = EXPORT_COPY;
	other.device = 2;
	launch_estimates_add(&all, &graph, 3, true);
	launch_estimates_add(&all, &copy, 3, true);
	launch_estimates_add(&all, &key, 3, false);
	printf("{\"what\":\"none\",\"who\":\"estimate\",\"got\":%u}\n", HASH_COUNT(all.all));

	read_counts(&all, &key, 1000, 9);
	e = all.all;
	launch_estimate_window(e, &AT(1000, 1000, 300));
	print("a window", e, AT(1500, 1500, 300));
	read_counts(&all, &key, 1050, 60);	/* 101 more in 1010 ns, and 500 of probes */
	launch_estimate_gap(e, &AT(1000, 1000, 300), &AT(2510, 2510, 800));
	print("the end of it", e, AT(2510, 2510, 800));
	print("a gap", e, AT(4630, 4630, 900));
	read_counts(&all, &key, 1050, 89);	/* 29 of them were seen after all: it was 202 */
	print("a gap, and less", e, AT(4630, 4630, 900));
	print("a gap in which it waited", e, AT(99999, 7640, 900));
	launch_estimate_window(e, &AT(99999, 7640, 900));
	print("the next window", e, AT(110000, 9000, 900));
	read_counts(&all, &key, 1050, 109);	/* 20 in 100 ns, as probes take at most 300 of 400 */
	launch_estimate_gap(e, &AT(99999, 7640, 900), &AT(100399, 8040, 1400));
	print("a gap after dear probes", e, AT(101399, 9040, 1400));
	launch_estimate_window(e, &AT(101399, 9040, 1400));
	read_counts(&all, &key, 1050, 121);	/* 12 in 60 ns by the clock, without 40 of probes */
	launch_estimate_gap(e, &AT(101399, 9040, 1400), &AT(101499, 9040, 1440));
	print("a gap after a window without ticks", e, AT(101599, 9140, 1440));
	print("after the end", e, AT(0, 0, 0));
	print("a gap with eight busy threads", e, AT(101699, 10740, 1440));	/* 40 by the clock */
	launch_estimate_window(e, &AT(101699, 10740, 1440));
	launch_estimate_gap(e, &AT(101699, 10740, 1440), &AT(101799, 10840, 1440));
	print("a gap without launches", e, AT(200000, 100000, 1440));
	launch_estimates_add(&all, &other, 50, true);	/* in the window that began then */
	HASH_FIND(hh, all.all, &other, sizeof(other), e);
	launch_estimate_gap(e, &AT(1000, 5000000, 0), &AT(2000, 5001000, 0));
	print("a gap after the first window", e, AT(3000, 5002000, 0));
	launch_estimates_free(&all);
}
