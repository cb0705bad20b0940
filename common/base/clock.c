/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <time.h>
#include "base/clock.h"

static unsigned long long read_clock(clockid_t clock)
{
	struct timespec ts;

	return clock_gettime(clock, &ts) ? 0 : ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

unsigned long long clock_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

unsigned long long clock_process_ns(int pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : read_clock(clock);
}
