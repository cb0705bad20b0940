/* SPDX-License-Identifier: GPL-2.0 */
/* Leaves out the calls of processes that the options do not select. */
#ifndef FILTER_BPF_H
#define FILTER_BPF_H
#include "abi/filter.h"
#include "lib/task.bpf.h"

/* Set by the tool.  All zero, the functions below cost nothing. */
const volatile struct filter filter SEC(".rodata.filter");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct task_struct___leader { struct task_struct *group_leader; };
#pragma clang attribute pop

static __always_inline bool comm_wanted(void)
{
	const struct task_struct___leader *task = (void *)bpf_get_current_task_btf();
	const struct task_struct *leader = task->group_leader;

	for (int i = 0; i < FILTER_COMM; i++) {
		if (leader->comm[i] != filter.comm[i])
			return false;
		if (!filter.comm[i])
			break;
	}
	return true;
}

/* Return true if the calling thread's calls are to be recorded. */
static __always_inline bool task_wanted(void)
{
	if (filter.by_uid && (__u32)bpf_get_current_uid_gid() != filter.uid)
		return false;
	if (filter.cgroup && bpf_get_current_ancestor_cgroup_id(filter.level) != filter.cgroup)
		return false;
	return !filter.by_comm || comm_wanted();
}

#endif
