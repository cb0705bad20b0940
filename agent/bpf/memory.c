/* SPDX-License-Identifier: GPL-2.0 */
/* The process's own memory: which addresses can be read. */
#include "agent/bpf/helpers.h"

enum {
	PAGE = SMALLEST_PAGE, NO_MEMORY = -14 /* EFAULT */,
	MOST = 256,		/* pages of a stack that are probed once in a thread's life; deeper ones are when they are read */
	TRIES = 16,
};

static bool page_known(__u64 page)
{
	for (__u32 i = 0; i < inject_now.pages && i < INJECT_PAGES; i++)
		if (inject_rest()->page[i] == page)
			return true;
	return page >= inject_self.stack && page < inject_self.stack_end;
}

bool inject_readable(__u64 at, __u64 n)
{
	__u64 last = (at + n - 1) & -(__u64)PAGE;

	if (!n)
		return true;
	if (at < PAGE || at + n < at || inject_now.other)
		return false;
	for (__u64 page = at & -(__u64)PAGE; page <= last; page += PAGE) {
		if (page_known(page))
			continue;
		if (!sys_readable((void *)page))
			return false;
		inject_rest()->page[inject_now.pages % INJECT_PAGES] = page;
		if (++inject_now.pages == 2 * INJECT_PAGES)
			inject_now.pages = INJECT_PAGES;
	}
	return true;
}

/* The addresses of this library, whose stubs are no frames of the program. */
extern const char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));

/* Returns the length with the final 0, of the part that fits. */
long inject_read_string(char *to, __u32 size, __u64 at)
{
	for (__u32 i = 0; i < size; i++) {
		if ((!i || !((at + i) % PAGE)) && !inject_readable(at + i, 1)) {
			__builtin_memset(to, 0, size);
			return NO_MEMORY;
		}
		to[i] = *(const volatile char *)(at + i);
		if (!to[i])
			return i + 1;
	}
	if (size)
		to[size - 1] = 0;
	return size;
}

static bool is_own(__u64 pc)
{
	return pc >= (__u64)__ehdr_start && pc < (__u64)_end;
}

/* As bpf_get_stack(): by frame pointers, the first address that of the instruction, BPF_F_SKIP_FIELD_MASK of them left
 * out. */
long inject_stack(const machine_regs *ctx, __u64 *frames, __u32 size, __u64 flags)
{
	__u64 pc = PT_REGS_IP(ctx), fp = PT_REGS_FP(ctx), skip = flags & BPF_F_SKIP_FIELD_MASK, frame[2];
	__u32 n = 0, room = size / 8;

	for (__u32 steps = 0; n < room && steps < 2 * 128; steps++) {
		if (skip)
			skip--;
		else if (!is_own(pc))
			frames[n++] = pc;
		if (bpf_probe_read_user(frame, sizeof(frame), (void *)fp))
			break;
		fp = frame[0];
		pc = CODE_ADDRESS(frame[1]);
	}
	return (long)n * 8;
}

/* ---- stacks: from its beginning down to the deepest place where the thread has been seen, a stack stays readable for as long
 * as the thread lives, and is read without a check: its calls in flight, and their callers.  On a stack that the program
 * has made each page is probed. */

static bool all_readable(__u64 from, __u64 to)
{
	for (__u64 page = from; page < to; page += PAGE)
		if (!sys_readable((void *)page))
			return false;
	return true;
}

bool inject_on_stack(__u64 at, __u64 n)
{
	__u64 end = at + n, last = (end - 1) & -(__u64)PAGE;

	if (inject_now.other)
		return false;
	if (at >= inject_self.stack && end <= inject_self.stack_end && end > at)
		return true;
	if (inject_self.stack_end == inject_self.stack_top)	/* the whole stack is readable */
		return false;
	for (__u64 page = at & -(__u64)PAGE; page <= last; page += PAGE)
		if (!sys_readable((void *)page))
			return false;
	return true;
}

__u64 inject_stack_end(__u64 here)
{
	const __u64 page = here & -(__u64)PAGE, end = page + PAGE;
	__u64 top;

	if (inject_rest()->stack_tries >= TRIES)
		return end;
	/* a thread's control block is at the end of the stack that the C library gave it */
	top = inject_self.stack_top ?: ((inject_now.stack ?: thread_pointer()) & -(__u64)PAGE) + PAGE;
	if (here >= top || top - page > MOST * PAGE || !all_readable(end, inject_self.stack_top ? inject_self.stack_low : top)) {
		inject_rest()->stack_tries++;
		return end;
	}
	inject_self.stack_low = page;
	inject_self.stack_top = top;
	return top;
}
