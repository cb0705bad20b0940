/* SPDX-License-Identifier: GPL-2.0 */
/* Which pages of the user's stack are in memory: those that the program never touched are not, as a large
 * buffer's of which nothing is used yet. */
#ifndef UNWIND_PAGES_BPF_H
#define UNWIND_PAGES_BPF_H
#include "abi/stack_unwind.h"
#ifndef __bpf__
#include "userspace/unwind_pages_user.h"
#else
#include "lib/task.bpf.h"

/* include/linux/mm_types.h */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct vm_area_struct { unsigned long vm_end; };
#pragma clang attribute pop

/* The pages from that of sp on, of which present has a bit each. */
struct unwind_pages {
	__u64 sp, present;
	__u32 n;		/* in present */
	__u32 looked;		/* at so many */
	__u32 cut;		/* not 0: the stack goes on behind them */
};

/* Return true if words of the stack may be read: here, what is not in memory cannot be. */
static __always_inline bool unwind_present(__u64 at, __u64 n)
{
	return true;
}

static long unwind_end_of(struct task_struct *task, struct vm_area_struct *vma, __u64 *end)
{
	*end = BPF_CORE_READ(vma, vm_end);
	return 0;
}

/* Where the mapping ends that sp is in; 0 if that is not known: the kernel lacks bpf_find_vma() (5.17), or
 * another thread changes the mappings. */
static __always_inline __u64 unwind_end(__u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 end = 0, first;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma))
		bpf_find_vma(task, sp, unwind_end_of, &end, 0);
	/* the main thread's: arguments and environment lie behind it */
	first = BPF_CORE_READ(task, mm, start_stack);
	return first > sp && first < end ? first : end;
}

/* 1 or 0.  Without a branch, and in assembly so that no compiler makes one: the verifier would walk each
 * combination of pages. */
static __always_inline __u64 unwind_readable(__u64 at)
{
	char byte;
	__u64 err = bpf_probe_read_user(&byte, 1, (void *)at);

	asm volatile("%[err] s>>= 63\n"
		     "%[err] += 1" : [err] "+r"(err));
	return err & 1;
}

/* Looks for at most most pages that are present, up to end. */
static __always_inline void unwind_pages_to(struct unwind_pages *p, __u32 most, __u64 end)
{
	__u64 at = p->sp & ~(UNWIND_PAGE - 1ull), present = 1, is;
	__u32 n = 1, i;

	for (i = 1; i < UNWIND_PAGES; i++) {
		at += UNWIND_PAGE;
		if (at >= end)
			break;
		is = unwind_readable(at);
		if (n + is > most)
			break;
		n += is;
		present |= is << i;
	}
	p->cut = at + (i == UNWIND_PAGES ? UNWIND_PAGE : 0) < end;
	p->n = n;
	p->looked = i;
	p->present = present;
}

/* Where the end of the stack is not known: up to the first page that is not present. */
static __always_inline void unwind_pages_until_gap(struct unwind_pages *p, __u32 most)
{
	__u64 at = p->sp & ~(UNWIND_PAGE - 1ull);
	__u32 n = 1;
	char byte;

	for (int i = 0; i < UNWIND_PAGES_COPIED; i++) {
		at += UNWIND_PAGE;
		if (bpf_probe_read_user(&byte, 1, (void *)at))
			break;
		n++;
	}
	p->cut = n > most;
	p->n = p->cut ? most : n;
	p->looked = p->n;
	p->present = (1ull << (p->n & 63)) - 1;
}

/* Fills in p for p->sp: at most most pages that are present, 1 to UNWIND_PAGES_COPIED.  Takes that of sp for
 * present.  Not static: the verifier looks at it once. */
__noinline int unwind_look(struct unwind_pages *p, __u32 most)
{
	__u64 end;

	if (!p)			/* never: but the verifier does not know */
		return 0;
	end = unwind_end(p->sp);
	if (end)
		unwind_pages_to(p, most, end);
	else
		unwind_pages_until_gap(p, most);
	return 0;
}

#endif
#endif
