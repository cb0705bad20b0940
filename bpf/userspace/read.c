/* SPDX-License-Identifier: GPL-2.0 */
#include <asm/unistd.h>
#include "inject/syscall.h"
#include "userspace/read.h"

enum { PAGE = 4096, NO_MEMORY = -14 /* EFAULT */ };

/* The kernel reads the new mask before it looks at what it is told to do with it, which is nonsense here: so it says
 * EFAULT if it cannot, EINVAL if it can, and changes nothing (as in Abseil's AddressIsReadable()). */
bool inject_page_readable(__u64 page)
{
	return inject_syscall(__NR_rt_sigprocmask, ~0l, page, 0, 8) != NO_MEMORY;
}

static bool page_known(__u64 page)
{
	for (__u32 i = 0; i < inject_local.pages && i < INJECT_PAGES; i++)
		if (inject_local.page[i] == page)
			return true;
	return page >= inject_local.stack && page < inject_local.stack_end;
}

bool inject_readable(__u64 at, __u64 n)
{
	__u64 last = (at + n - 1) & -(__u64)PAGE;

	if (!n)
		return true;
	if (at < PAGE || at + n < at || inject_local.other)
		return false;
	for (__u64 page = at & -(__u64)PAGE; page <= last; page += PAGE) {
		if (page_known(page))
			continue;
		if (!inject_page_readable(page))
			return false;
		inject_local.page[inject_local.pages % INJECT_PAGES] = page;
		inject_local.pages = inject_local.pages < 2 * INJECT_PAGES - 1 ? inject_local.pages + 1 : INJECT_PAGES;
	}
	return true;
}

/* Where this library is, whose stubs are no frames of the program. */
extern const char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));

/* Returns the length with the 0 that ends it, of what fits. */
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
long inject_stack(const struct pt_regs *ctx, __u64 *frames, __u32 size, __u64 flags)
{
	__u64 pc = ctx->rip, bp = ctx->rbp, skip = flags & BPF_F_SKIP_FIELD_MASK, frame[2];
	__u32 n = 0, room = size / 8;

	for (__u32 steps = 0; n < room && steps < 2 * 128; steps++) {
		if (skip)
			skip--;
		else if (!is_own(pc))
			frames[n++] = pc;
		if (bpf_probe_read_user(frame, sizeof(frame), (void *)bp))
			break;
		bp = frame[0];
		pc = frame[1];
	}
	return n ? (long)n * 8 : NO_MEMORY;
}
