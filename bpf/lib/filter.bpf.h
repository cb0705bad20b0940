/* SPDX-License-Identifier: GPL-2.0 */
/* Leaves out the calls of processes that the options do not select. */
#ifndef FILTER_BPF_H
#define FILTER_BPF_H
#include "abi/filter.h"
#include "lib/task.bpf.h"

/* Set by the tool.  All zero, the functions below cost nothing. */
const volatile struct filter filter SEC(".rodata.filter");

/* Return true if the calling thread's calls are to be recorded. */
static __always_inline bool task_wanted(void)
{
	if (filter.by_uid && (__u32)bpf_get_current_uid_gid() != filter.uid)
		return false;
	if (filter.cgroup && !process_is_in_cgroup(filter.level, filter.cgroup))
		return false;
	return !filter.by_comm || process_comm_is(filter.comm, FILTER_COMM);
}

#endif
