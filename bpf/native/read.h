/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the program's memory, which is one's own, but for any address: without a signal where there is none. */
#ifndef NATIVE_READ_H
#define NATIVE_READ_H
#include <linux/bpf.h>
#include "native/native.h"

/* Return true if the page that begins there can be read. */
bool native_page_readable(__u64 page);

/* Return true if these bytes can be read. */
bool native_readable(__u64 at, __u64 n);

/* Return true if these few bytes are in memory: on a stack, what is not was never written. */
bool native_on_stack(__u64 at, __u64 n);

long native_read_string(char *to, __u32 size, __u64 at);
long native_stack(const struct pt_regs *ctx, __u64 *frames, __u32 size, __u64 flags);

/* Fails with all bytes 0, as the kernel's. */
static inline long bpf_probe_read_user(void *to, __u32 size, const void *from)
{
	__u64 at = (__u64)from;

	if (LIKELY(at >= native.stack && at < native.stack_end && size <= native.stack_end - at) || native_readable(at, size)) {
		native_copy(to, from, size);
		return 0;
	}
	__builtin_memset(to, 0, size);
	return -14;	/* EFAULT */
}

static inline long bpf_probe_read_user_str(void *to, __u32 size, const void *from)
{
	return native_read_string(to, size, (__u64)from);
}

/* What is not the program's: the registers. */
static inline long bpf_probe_read_kernel(void *to, __u32 size, const void *from)
{
	native_copy(to, from, size);
	return 0;
}

static inline long bpf_get_stack(const void *ctx, void *frames, __u32 size, __u64 flags)
{
	return native_stack(ctx, frames, size, flags);
}

#endif
