/* SPDX-License-Identifier: GPL-2.0 */
/* The pages of a stack for --attach inject: a part of lib/unwind.bpf.h, which has struct unwind_pages. */
#ifndef AGENT_BPF_UNWIND_PAGES_USER_H
#define AGENT_BPF_UNWIND_PAGES_USER_H
#ifndef LIB_UNWIND_BPF_H
#error "include lib/unwind.bpf.h instead of this"
#endif
#include "abi/stack_unwind.h"
#include "agent/bpf/helpers.h"

static __always_inline bool unwind_word(struct unwind_piece *p, __u64 at, __u64 *word)
{
	(void)p;
	return inject_on_stack(at, 8) && !bpf_probe_read_user(word, 8, (void *)at);
}

static __always_inline __u64 unwind_end(__u64 sp)
{
	return sp >= inject_self.stack_low && sp < inject_self.stack_top ? inject_self.stack_top : ~0ull;
}

/* A page of 0 has no return address: it need not be copied, as one that was never written. */
static __always_inline bool unwind_is_empty(__u64 page)
{
	const volatile __u64 *word = (void *)page;

	for (__u32 i = 0; i < UNWIND_PAGE / 8; i++)
		if (word[i])
			return false;
	return true;
}

__noinline int unwind_look(struct unwind_pages *p, __u32 most)
{
	__u64 at = p->sp & -(__u64)UNWIND_PAGE, end = unwind_end(p->sp), present = 1, page = at + UNWIND_PAGE;
	__u32 n = 1, i;

	p->cut = 0;
	for (i = 1; i < UNWIND_PAGES && page < end && inject_on_stack(page, UNWIND_PAGE); i++, page += UNWIND_PAGE) {
		__u32 is = !unwind_is_empty(page);

		if (n + is > most) {
			p->cut = 1;
			break;
		}
		n += is;
		present |= (__u64)is << i;
	}
	p->cut |= i == UNWIND_PAGES && page < end;
	p->n = n;
	p->looked = i;
	p->present = present;
	return 0;
}

#endif
