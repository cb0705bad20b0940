/* SPDX-License-Identifier: GPL-2.0 */
#include <asm/unistd.h>
#include "audit/syscall.h"
#include "native/read.h"

enum { PAGE = 4096, NO_MEMORY = -14 /* EFAULT */ };

/* The kernel reads the new mask before it looks at what it is told to do with it, which is nonsense here: so it says
 * EFAULT if it cannot, EINVAL if it can, and changes nothing (as in Abseil's AddressIsReadable()). */
bool native_page_readable(__u64 page)
{
	return native_syscall(__NR_rt_sigprocmask, ~0l, page, 0, 8) != NO_MEMORY;
}

static bool page_known(__u64 page)
{
	for (__u32 i = 0; i < native.pages && i < NATIVE_PAGES; i++)
		if (native.page[i] == page)
			return true;
	return page >= native.stack && page < native.stack_end;
}

bool native_readable(__u64 at, __u64 n)
{
	__u64 last = (at + n - 1) & -(__u64)PAGE;

	if (!n)
		return true;
	if (at < PAGE || at + n < at || native.other)
		return false;
	for (__u64 page = at & -(__u64)PAGE; page <= last; page += PAGE) {
		if (page_known(page))
			continue;
		if (!native_page_readable(page))
			return false;
		native.page[native.pages % NATIVE_PAGES] = page;
		native.pages = native.pages < 2 * NATIVE_PAGES - 1 ? native.pages + 1 : NATIVE_PAGES;
	}
	return true;
}

/* Where this library is, whose stubs are no frames of the program. */
extern const char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));

/* Returns the length with the 0 that ends it, of what fits. */
long native_read_string(char *to, __u32 size, __u64 at)
{
	for (__u32 i = 0; i < size; i++) {
		if ((!i || !((at + i) % PAGE)) && !native_readable(at + i, 1)) {
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
long native_stack(const struct pt_regs *ctx, __u64 *frames, __u32 size, __u64 flags)
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
