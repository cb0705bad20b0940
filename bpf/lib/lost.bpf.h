/* SPDX-License-Identifier: GPL-2.0 */
/* Counts losses, by kind and process; reads memory of the program. */
#ifndef LIB_LOST_BPF_H
#define LIB_LOST_BPF_H
#include "abi/bpf_names.h"
#include "lib/task.bpf.h"
#include "abi/lost.h"

/* Counts by enum lost, in a map of their own, which tool_run() finds by name. */
__u64 lost[LOST_MAX] SEC(SECTION_LOST);

/* The same by process.  Losses of further processes are only in the totals. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LOST_PROCESSES);
	__type(key, struct lost_key);
	__type(value, struct lost_count);
} lost_by SEC(".maps");

/* Losses are rare: their cost does not matter. */
GLOBAL_SUBPROG int lose_some(__u32 why, __u64 n)
{
	struct lost_key key = { .pid = thread_pid(), .why = why };
	struct lost_count *c = bpf_map_lookup_elem(&lost_by, &key), none = {};

	if (why >= LOST_MAX)
		return 0;
	__sync_fetch_and_add(&lost[why], n);
	if (!c) {
		thread_comm(none.comm);
		bpf_map_update_elem(&lost_by, &key, &none, BPF_NOEXIST);
		c = bpf_map_lookup_elem(&lost_by, &key);
	}
	if (c)
		__sync_fetch_and_add(&c->n, n);
	return 0;
}

static __always_inline void lose(enum lost why)
{
	lose_some(why, 1);
}

/* A word of the program's memory; 0, and counted as lost, if it cannot be read. */
static __always_inline __u64 read_u64(__u64 at)
{
	__u64 v = 0;

	if (bpf_probe_read_user(&v, sizeof(v), (void *)at))
		lose(LOST_READ);
	return v;
}

static __always_inline __u32 read_u32(__u64 at)
{
	__u32 v = 0;

	if (bpf_probe_read_user(&v, sizeof(v), (void *)at))
		lose(LOST_READ);
	return v;
}

#endif
