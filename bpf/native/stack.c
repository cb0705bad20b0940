/* SPDX-License-Identifier: GPL-2.0 */
/* Where a thread's stack begins.  From there down to where the thread has been seen, it stays as it is for as long as the
 * thread lives, so that what lies there is read without asking: its calls in flight, and their callers.  On a stack that
 * the program has made for itself each page is asked about. */
#include <asm/unistd.h>
#include "native/read.h"

enum {
	PAGE = 4096,
	MOST = 256,		/* pages that are asked about, once in a thread's life: deeper ones are when they are read */
	TRIES = 16,
	AT_RANDOM = 25,		/* <linux/auxvec.h> */
};

/* The kernel put it at the beginning of the first thread's stack. */
static __u64 process_top(void)
{
	struct { __u64 type, value; } entry;
	long fd = native_syscall(__NR_open, (long)"/proc/self/auxv", 02000000 /* O_CLOEXEC */, 0, 0);
	__u64 found = 0;

	while (fd >= 0 && !found && native_syscall(__NR_read, fd, (long)&entry, sizeof(entry), 0) == sizeof(entry))
		if (entry.type == AT_RANDOM)
			found = entry.value;
	if (fd >= 0)
		native_syscall(__NR_close, fd, 0, 0, 0);
	return found;
}

/* A thread's control block is at the end of the stack that the C library gave it. */
static __u64 thread_top(void)
{
	__u64 self;

	__asm__("mov %%fs:0, %0" : "=r"(self));
	return self;
}

/* What is not in memory would come there by a look: large buffers that are not used yet stay as they are. */
static bool all_readable(__u64 from, __u64 to)
{
	unsigned char in_memory[MOST];

	if (from >= to)
		return true;
	if (to - from > sizeof(in_memory) * PAGE || native_syscall(__NR_mincore, from, to - from, (long)in_memory, 0))
		return false;
	for (__u64 page = from; page < to; page += PAGE)
		if (!(in_memory[(page - from) / PAGE] & 1) || !native_page_readable(page))
			return false;
	return true;
}

bool native_on_stack(__u64 at, __u64 n)
{
	unsigned char in_memory[2] = {};
	__u64 page = at & -(__u64)PAGE, end = at + n;

	if ((at >= native.stack && end <= native.stack_end && end > at) || native.other)
		return !native.other;
	return !native_syscall(__NR_mincore, page, end - page, (long)in_memory, 0) && in_memory[0] & 1 &&
	       (end <= page + PAGE || in_memory[1] & 1);
}

__u64 native_stack_end(__u64 here)
{
	const __u64 page = here & -(__u64)PAGE, end = page + PAGE;
	bool first = native.task.pid == (int)native_syscall(__NR_getpid, 0, 0, 0, 0);
	__u64 top;

	if (native.stack_tries >= TRIES)
		return end;
	top = native.stack_top ?: ((first ? process_top() : thread_top()) & -(__u64)PAGE) + PAGE;
	if (here >= top || top - page > MOST * PAGE || !all_readable(end, native.stack_top ? native.stack_low : top)) {
		native.stack_tries++;
		return end;
	}
	native.stack_low = page;
	native.stack_top = top;
	return top;
}
