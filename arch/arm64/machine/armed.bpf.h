/* SPDX-License-Identifier: GPL-2.0 */
/* Whether the kernel awaits the return of a function, on arm64. */
#ifndef MACHINE_ARMED_BPF_H
#define MACHINE_ARMED_BPF_H
#include "machine/returns.bpf.h"

/* Return true if the kernel's list has it.  A function that was left by longjmp() stays there until another one is entered
 * with the same or a higher stack pointer (kernel/events/uprobes.c, cleanup_return_instances).  Not static, as
 * frame_return(). */
__noinline int is_listed(__u64 entry)
{
	struct return_instance *r = returns_first();

	for (int i = 0; i < RETURNS_MAX && r; i++) {
		if (BPF_CORE_READ(r, stack) == entry)
			return 1;
		r = BPF_CORE_READ(r, next);
	}
	return 0;
}

/* The same from the frame records of the calling thread, or if they do not lead to the function's, from the list. */
__noinline int is_awaited(__u64 entry)
{
	struct { __u64 fp, lr, sp; } r = {};	/* as in struct user_pt_regs */
	const machine_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u64 pc;

	bpf_probe_read_kernel(&r, sizeof(r), &regs->regs[29]);
	pc = frame_return(entry, r.fp, r.lr, r.sp);
	return pc ? !(pc & 0xfff) : is_listed(entry);
}

/* While a return probe is armed, the kernel has replaced the return address by that of its
 * trampoline, which is the start of a page (kernel/events/uprobes.c, uprobe_get_trampoline_vaddr:
 * slot 0 of the area). */
static __always_inline bool is_armed(__u64 entry)
{
	return is_awaited(entry);
}

#endif
