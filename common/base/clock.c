/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <time.h>
#include "base/clock.h"

unsigned long long clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}
