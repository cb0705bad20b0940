/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The clock, by the kernel's own code in the program (vdso(7)): a system call would take five times as long. */
#include <stddef.h>
#include <linux/time_types.h>
#include "audit/audit.h"
#include "audit/object.h"
#include "audit/syscall.h"

enum { MONOTONIC = 1 };

void clock_find(struct audit *a, const void *vdso)
{
	struct object o;
	const ElfW(Sym) *s;

	if (!vdso || !object_image(&o, vdso))
		return;
	s = object_symbol(&o, "__vdso_clock_gettime", object_hash("__vdso_clock_gettime"), NULL);
	if (s)
		a->clock = (clock_fn *)(o.base + s->st_value);
}

__u64 audit_clock_ns(void)
{
	struct __kernel_timespec t = { 0 };

	if (!audit.clock || audit.clock(MONOTONIC, &t))
		sys3(__NR_clock_gettime, MONOTONIC, (long)&t, 0);
	return (__u64)t.tv_sec * 1000000000 + (__u64)t.tv_nsec;
}
