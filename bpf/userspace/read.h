/* SPDX-License-Identifier: GPL-2.0 */
/* Reads the program's memory, which is one's own, but for any address: without a signal where there is none. */
#ifndef INJECT_READ_H
#define INJECT_READ_H
#include <linux/bpf.h>
#include "userspace/task.h"

/* Return true if the page that begins there can be read. */
bool inject_page_readable(__u64 page);

/* Return true if these bytes can be read. */
bool inject_readable(__u64 at, __u64 n);

/* Return true if these few bytes are in memory: on a stack, what is not was never written. */
bool inject_on_stack(__u64 at, __u64 n);

long inject_read_string(char *to, __u32 size, __u64 at);
long inject_stack(const struct pt_regs *ctx, __u64 *frames, __u32 size, __u64 flags);

/* Fails with all bytes 0, as the kernel's. */
static inline long bpf_probe_read_user(void *to, __u32 size, const void *from)
{
	__u64 at = (__u64)from;

	if (LIKELY(at >= inject_local.stack && at < inject_local.stack_end && size <= inject_local.stack_end - at) || inject_readable(at, size)) {
		inject_copy(to, from, size);
		return 0;
	}
	__builtin_memset(to, 0, size);
	return -14;	/* EFAULT */
}

static inline long bpf_probe_read_user_str(void *to, __u32 size, const void *from)
{
	return inject_read_string(to, size, (__u64)from);
}

/* What is not the program's: the registers. */
static inline long bpf_probe_read_kernel(void *to, __u32 size, const void *from)
{
	inject_copy(to, from, size);
	return 0;
}

static inline long bpf_get_stack(const void *ctx, void *frames, __u32 size, __u64 flags)
{
	return inject_stack(ctx, frames, size, flags);
}

#endif
