/* SPDX-License-Identifier: GPL-2.0 */
/* Where x86-64 has the return address of a function: calls push it. */
#ifndef MACHINE_RETURNS_BPF_H
#define MACHINE_RETURNS_BPF_H
#ifndef LIB_TASK_BPF_H
#error "include lib/task.bpf.h before this"
#endif
#include "machine/regs.bpf.h"

/* The return address of a function that was entered with this stack pointer and has not returned; 0: unknown. */
static __always_inline __u64 return_stored(const struct pt_regs *ctx, __u64 entry)
{
	__u64 slot = 0;

	return bpf_probe_read_user(&slot, sizeof(slot), (void *)entry) ? 0 : slot;
}

#endif
