/* SPDX-License-Identifier: GPL-2.0 */
/* As bpf/lib/unwind_pages.bpf.h. */
#ifndef UNWIND_PAGES_BPF_H
#define UNWIND_PAGES_BPF_H
#include "lib/user.bpf.h"
#include "abi/stack_unwind.h"

struct unwind_pages {
	__u64 sp, present;
	__u32 n;		/* in present */
	__u32 looked;		/* at so many */
	__u32 cut;		/* not 0: the stack goes on behind them */
};

static __always_inline bool unwind_present(__u64 at, __u64 n)
{
	return native_on_stack(at, n);
}

static __always_inline __u64 unwind_end(__u64 sp)
{
	return sp >= native.stack_low && sp < native.stack_top ? native.stack_top : ~0ull;
}

/* Pages that are not in memory are not made so by a look. */
__noinline int unwind_look(struct unwind_pages *p, __u32 most)
{
	__u64 at = p->sp & -(__u64)UNWIND_PAGE, end = unwind_end(p->sp), present = 1;
	unsigned char in_memory[UNWIND_PAGES] = {};
	__u32 n = 1, i;

	/* up to what is not mapped, all is filled in */
	p->cut = !native_syscall(__NR_mincore, at, sizeof(in_memory) * UNWIND_PAGE, (long)in_memory, 0) &&
		 at + sizeof(in_memory) * UNWIND_PAGE < end;
	for (i = 1; i < UNWIND_PAGES && at + i * (__u64)UNWIND_PAGE < end; i++) {
		__u32 is = in_memory[i] & 1;

		if (n + is > most) {
			p->cut = 1;
			break;
		}
		n += is;
		present |= (__u64)is << i;
	}
	p->n = n;
	p->looked = i;
	p->present = present;
	return 0;
}

#endif
