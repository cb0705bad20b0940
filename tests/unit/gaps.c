/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* gaps [START END CALLED]...: runs on a GPU, in the order in which they come, and when the call of each returned (0: not
 * known); all in ms.  With `later' in place of a run, those before it have been held long enough.  Prints the times of their
 * device in ms, the number of gaps and of runs that came too late, and the states of the gaps: what threads do is not known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "cudalaunchtop/gaps.h"
#include "gputime/gpu_calls.h"
#include "gputime/gpu_time.h"
#include "proc/process_table.h"

enum { MS = 1000000 };

static void add(struct gaps *g, unsigned long long base, char **argv)
{
	const unsigned long long called = strtoull(argv[2], NULL, 10);
	const struct gpu_caller caller = { .end = base + called * MS };
	const struct gpu_run run = {
		.pid = 1, .device = 1, .start = base + strtoull(argv[0], NULL, 10) * MS, .end = base + strtoull(argv[1], NULL, 10) * MS,
		.caller = called ? &caller : NULL,
	};

	gaps_run(g, &run);
}

static void print(void *ctx, const struct gap_device *d)
{
	const struct gaps *g = ctx;

	printf("busy %llu host %llu queued %llu unknown %llu gaps %llu late %llu", d->busy / MS, d->host / MS, d->queued / MS,
	       d->unknown / MS, d->n, g->late);
	for (const struct gap_group *p = d->groups; p; p = p->hh.next)
		printf(" [%s %llu %llu]", host_state_names[p->state], p->sum.n, p->sum.ns / MS);
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct process_table processes = { 0 };
	struct gaps gaps = { 0 };
	const unsigned long long base = clock_ns() - 1000ull * MS;

	gaps_open(&gaps, &processes);
	for (int i = 1; i < argc; ) {
		if (!strcmp(argv[i], "later")) {
			gaps_tick(&gaps, true);
			i++;
		} else if (i + 2 < argc) {
			add(&gaps, base, argv + i);
			i += 3;
		} else {
			return 2;
		}
	}
	gaps_tick(&gaps, true);
	gaps_each(&gaps, print, &gaps);
	return 0;
}
