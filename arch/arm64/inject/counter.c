/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The clock of programs is the kernel's: the counter has too few ticks in a microsecond to extrapolate from it (Arm's
 * architecture: 1 to 1000), and kernels that work around faults of it let programs read it only by a trap. */
#include <stdbool.h>
#include "agent/inject/inject.h"

bool counter_is_clock(void)
{
	return false;
}

__u64 inject_clock_ns(void)
{
	return clock_kernel_ns();
}
