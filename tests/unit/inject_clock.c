/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The clock of the probes in traced programs: it is the kernel's, which is seldom asked.  COUNTS: 0 if the kernel's clock is
 * not the processor's counter. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "agent/inject/inject.h"

enum { READS = 1000000, PAUSES = 20, OFF_NS = 1000 };

struct injected injected;
__thread struct inject_here inject_here;
static unsigned long asked;

static int ask(int clock, struct __kernel_timespec *t)
{
	asked++;
	return clock_gettime(clock, (struct timespec *)t);
}

static __u64 kernel(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (__u64)t.tv_sec * 1000000000 + (__u64)t.tv_nsec;
}

/* Returns how many answers were off by more than OFF_NS, or before an earlier one. */
static int reads(void)
{
	__u64 last = 0;
	int bad = 0;

	for (int i = 0; i < READS; i++) {
		__u64 before = kernel(), here = inject_clock_ns(), after = kernel();

		if (here + OFF_NS < before || here > after + OFF_NS || here < last)
			bad++;
		last = here;
	}
	return bad;
}

int main(int argc, char **argv)
{
	int bad;

	injected.clock = ask;
	injected.counts = argc < 2 || atoi(argv[1]);
	bad = reads();
	for (int i = 0; i < PAUSES; i++) {	/* the counter goes on */
		__u64 before, here;

		nanosleep(&(struct timespec){ 0, i * 3000000 }, NULL);
		before = kernel();
		here = inject_clock_ns();
		bad += here + OFF_NS < before || here > kernel() + OFF_NS;
	}
	printf("%d wrong\n%s asked\n", bad, asked < READS / 20 ? "seldom" : asked < READS ? "often" : "always");
	return 0;
}
