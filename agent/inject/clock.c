/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The kernel's clock, by its code in the program (vdso(7)): a system call would take five times as long.
 * arch/ARCH/inject/counter.c has what programs get. */
#include <stdbool.h>
#include <stddef.h>
#include <linux/time_types.h>
#include "agent/inject/inject.h"

enum { MONOTONIC = 1 };

void clock_find(struct injected *a, const void *vdso)
{
	struct object o;
	const ElfW(Sym) *s;

	if (!vdso || !object_image(&o, vdso))
		return;
	s = object_symbol(&o, VDSO_CLOCK_GETTIME, object_hash(VDSO_CLOCK_GETTIME), NULL);
	if (s)
		a->clock = (clock_fn *)(o.base + s->st_value);
	a->counts = s && counter_is_clock();
}

__u64 clock_kernel_ns(void)
{
	struct __kernel_timespec t = { 0 };

	if (!injected.clock || injected.clock(MONOTONIC, &t))
		sys3(__NR_clock_gettime, MONOTONIC, (long)&t, 0);
	return (__u64)t.tv_sec * 1000000000 + (__u64)t.tv_nsec - (__u64)injected.ahead;
}
