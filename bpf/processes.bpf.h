/* SPDX-License-Identifier: GPL-2.0 */
/* The processes that sent a record, so that their end is told and no other's.  To be included
 * after cuda.bpf.h. */
#ifndef PROCESSES_BPF_H
#define PROCESSES_BPF_H

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, char);
} processes SEC(".maps");

/* To be called for a thread's records; known is the thread's own.  True the first time: then
 * the reader should look at the process soon, it may not live long. */
static __always_inline bool process_is_new(bool *known, __u32 pid)
{
	char yes = 1;

	if (*known)
		return false;
	*known = true;
	if (bpf_map_update_elem(&processes, &pid, &yes, BPF_ANY))
		lose(LOST_PROCESS);
	return true;
}

#endif
