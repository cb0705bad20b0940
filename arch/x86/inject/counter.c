/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The clock of programs.
 *
 * The kernel's code for its clock takes three times as long as the processor's counter that it reads, as it serializes and
 * divides.  If the kernel's clock is that counter, each thread extrapolates from its last reading of the kernel's clock, at the
 * rate measured so far, and reads it again after less than a millisecond: the error is less than 100 ns, a call's duration has
 * much less. */
#include <stdbool.h>
#include "agent/inject/inject.h"

/* In ticks of the counter, of which there are one to five in a nanosecond. */
enum {
	AHEAD = 1 << 20,		/* so far without a reading */
	ASKED = 1 << 9,			/* a reading takes less, unless it is interrupted */
	RATED = 1 << 21,		/* a rate needs so many, */
	RATED_WELL = 1 << 24,		/* a better one these, */
	RATED_MOST = 1 << 30,		/* and the next one begins after these */
};

bool counter_is_clock(void)
{
	const char *path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	char name[5] = "";

	sys_read_file(path, name, sizeof(name) - 1);
	return same(name, "tsc\n");
}

static void rate(struct counted *c, __u64 ticks, __u64 ns)
{
	__u64 n = ticks - c->from_ticks;

	if (n < (c->rate ? RATED_WELL : RATED))
		return;
	/* the machine may have been suspended in between */
	if (n < 2ull * RATED_MOST)
		c->rate = ((ns - c->from_ns) << 32) / n;
	/* not a counter of 100 MHz to 16 GHz */
	if (c->rate > 10ull << 32 || c->rate < 1ull << 28)
		c->rate = 0;
	if (n >= RATED_MOST || !c->rate) {
		c->from_ticks = ticks;
		c->from_ns = ns;
	}
}

static __attribute__((noinline, cold)) __u64 ask_again(struct counted *c)
{
	__u64 before = __builtin_ia32_rdtsc(), ns = clock_kernel_ns(), after;

	if (!injected.counts)
		return ns;
	after = __builtin_ia32_rdtsc();
	if (after - before < ASKED) {
		c->ticks = before + (after - before) / 2;
		c->ns = ns;
		rate(c, c->ticks, ns);
	}
	if (after - before >= ASKED || !c->rate)
		c->ticks = before - AHEAD;	/* the next call reads, too */
	return ns;
}

__u64 inject_clock_ns(void)
{
	struct counted *c = &inject_here.counted;
	__u64 n = __builtin_ia32_rdtsc() - c->ticks, ns;

	ns = LIKELY(n < AHEAD) ? c->ns + (n * c->rate >> 32) : ask_again(c);
	if (ns < c->last)
		ns = c->last;
	c->last = ns;
	return ns;
}
