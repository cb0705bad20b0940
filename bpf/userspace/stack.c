/* SPDX-License-Identifier: GPL-2.0 */
/* Where a thread's stack begins.  From there down to where the thread has been seen, it stays as it is for as long as the
 * thread lives, so that what lies there is read without asking: its calls in flight, and their callers.  On a stack that
 * the program has made for itself each page is asked about. */
#include <asm/unistd.h>
#include "userspace/read.h"

enum {
	PAGE = 4096,
	MOST = 256,		/* pages that are asked about, once in a thread's life: deeper ones are when they are read */
	TRIES = 16,
};

/* A thread's control block is at the end of the stack that the C library gave it. */
static __u64 thread_top(void)
{
	__u64 self;

	__asm__("mov %%fs:0, %0" : "=r"(self));
	return self;
}

static bool all_readable(__u64 from, __u64 to)
{
	for (__u64 page = from; page < to; page += PAGE)
		if (!inject_page_readable(page))
			return false;
	return true;
}

bool inject_on_stack(__u64 at, __u64 n)
{
	__u64 end = at + n, last = (end - 1) & -(__u64)PAGE;

	if ((at >= inject_local.stack && end <= inject_local.stack_end && end > at) || inject_local.other)
		return !inject_local.other;
	if (inject_local.stack_end == inject_local.stack_top)	/* and it is the whole of it */
		return false;
	for (__u64 page = at & -(__u64)PAGE; page <= last; page += PAGE)
		if (!inject_page_readable(page))
			return false;
	return true;
}

__u64 inject_stack_end(__u64 here)
{
	const __u64 page = here & -(__u64)PAGE, end = page + PAGE;
	__u64 top;

	if (inject_local.stack_tries >= TRIES)
		return end;
	top = inject_local.stack_top ?: ((inject_now.stack ?: thread_top()) & -(__u64)PAGE) + PAGE;
	if (here >= top || top - page > MOST * PAGE || !all_readable(end, inject_local.stack_top ? inject_local.stack_low : top)) {
		inject_local.stack_tries++;
		return end;
	}
	inject_local.stack_low = page;
	inject_local.stack_top = top;
	return top;
}
