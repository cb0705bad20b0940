/* SPDX-License-Identifier: GPL-2.0 */
/* Where the kernel has replaced return addresses on the user's stack, to see functions return. */
#ifndef RETURNS_BPF_H
#define RETURNS_BPF_H
#include "lib/task.bpf.h"
#include "abi/stack_unwind.h"

/* The kernel's list of them, the innermost first; orig_ret_vaddr is the program's own return address
 * (include/linux/uprobes.h). */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct return_instance { unsigned long stack, orig_ret_vaddr; struct return_instance *next; };
struct uprobe_task { struct return_instance *return_instances; };
struct task_struct___utask { struct uprobe_task *utask; };
#pragma clang attribute pop

static __always_inline struct return_instance *returns_of(void *task)
{
	return BPF_CORE_READ((struct task_struct___utask *)task, utask, return_instances);
}

static __always_inline struct return_instance *returns_first(void)
{
	return returns_of((void *)bpf_get_current_task());
}

/* While a return probe is armed, the kernel has replaced the return address by that of its
 * trampoline, which is the start of a page (kernel/events/uprobes.c, uprobe_get_trampoline_vaddr:
 * slot 0 of the area). */
static __always_inline bool is_armed(__u64 entry)
{
	__u64 slot = 0;

	return !bpf_probe_read_user(&slot, sizeof(slot), (void *)entry) && slot && !(slot & 0xfff);
}

enum { RETURNS_MAX = 64 };

/* Returns the address to which the function returns whose return address is at this place, where pc
 * stands. */
static __always_inline __u64 return_address(__u64 at, __u64 pc)
{
	struct return_instance *r;

	if (!pc || pc & 0xfff)		/* see is_armed() */
		return pc;
	r = returns_first();
	for (int i = 0; i < RETURNS_MAX && r; i++) {
		if (BPF_CORE_READ(r, stack) == at)
			return BPF_CORE_READ(r, orig_ret_vaddr);
		r = BPF_CORE_READ(r, next);
	}
	return pc;
}

/* Lists the innermost ones, from r on, for user space. */
static __always_inline void returns_list(struct stack_copy *c, struct return_instance *r)
{
	for (int i = 0; i < STACK_RETURNS; i++) {
		c->returns[i].at = r ? BPF_CORE_READ(r, stack) : 0;
		c->returns[i].pc = r ? BPF_CORE_READ(r, orig_ret_vaddr) : 0;
		r = r ? BPF_CORE_READ(r, next) : NULL;
	}
}

#endif
