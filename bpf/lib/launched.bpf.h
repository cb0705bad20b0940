/* SPDX-License-Identifier: GPL-2.0 */
/* Kernels that a process has launched, so that only the first launch of each kernel need be reported: in the storage of its first
 * thread, which ends with the process.  It may forget a kernel, and all of them when a module is unloaded: a launch that is
 * new here may not be the first. */
#ifndef LIB_LAUNCHED_BPF_H
#define LIB_LAUNCHED_BPF_H
#include <stdbool.h>
#include "lib/call.bpf.h"
#include "lib/task.bpf.h"

enum { LAUNCHED_SETS = 120, LAUNCHED_WAYS = 8, LAUNCHED_SHIFT = 16 };

struct launched {
	__u64 unloads;		/* so far */
	__u64 sets[LAUNCHED_SETS][LAUNCHED_WAYS];	/* addresses of user space, and the low bits of unloads then */
};

BPF_TASK_STORAGE(launched, struct launched)

static __always_inline struct launched *launched_here(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return bpf_task_storage_get(&launched, task->group_leader, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline __u64 launched_element(const struct launched *l, __u64 func)
{
	return func << LAUNCHED_SHIFT | (l->unloads & ((1 << LAUNCHED_SHIFT) - 1));
}

static __always_inline __u64 *launched_set(struct launched *l, __u64 func)
{
	return l->sets[bounded((func >> 4 ^ func >> 12) % LAUNCHED_SETS, LAUNCHED_SETS - 1)];
}

/* func: as passed to the launch. */
GLOBAL_SUBPROG int launched_has(__u64 func)
{
	struct launched *l = launched_here();
	__u64 *set;

	if (!l)
		return 0;
	set = launched_set(l, func);
	for (int i = 0; i < LAUNCHED_WAYS; i++)
		if (set[i] == launched_element(l, func))
			return 1;
	return 0;
}

GLOBAL_SUBPROG int launched_add(__u64 func)
{
	struct launched *l = launched_here();
	__u32 at = bpf_get_prandom_u32() % LAUNCHED_WAYS;
	__u64 *set;

	if (!l || launched_has(func))
		return 0;
	set = launched_set(l, func);
	for (__u32 i = 0; i < LAUNCHED_WAYS; i++)
		if (!set[i])
			at = i;
	set[bounded(at, LAUNCHED_WAYS - 1)] = launched_element(l, func);
	return 0;
}

/* Call at the entry of a function that unloads kernels: others may come to be at their addresses. */
static __always_inline void launched_unloads(void)
{
	struct launched *l = launched_here();

	if (l)
		__sync_fetch_and_add(&l->unloads, 1);
}

#endif
