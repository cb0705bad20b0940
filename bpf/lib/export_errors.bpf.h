/* SPDX-License-Identifier: GPL-2.0 */
/* Calls that returned an error, by function and error. */
#ifndef EXPORT_ERRORS_BPF_H
#define EXPORT_ERRORS_BPF_H
#include "lib/export_counts.bpf.h"
#include "abi/cuda_sticky.h"

enum { EXPORT_ERRORS = 8192 };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, EXPORT_ERRORS);
	__type(key, struct export_error);
	__type(value, struct export_error_count);
} export_errors SEC(".maps");

/* Of export_errors; user space gives back what it deletes. */
struct shares export_error_shares SEC(".data.export_error_shares");

static volatile bool export_any_stuck;

/* Not static: the verifier looks at it once. */
__noinline int export_count_error(__u64 program, __u32 pid, __u32 id, int ret)
{
	struct export_error key = { .program = program, .pid = pid, .id = id, .ret = ret };
	struct export_error_count *c = bpf_map_lookup_elem(&export_errors, &key), none = {};

	if (!c) {
		share_add(&export_errors, &key, &none, &none.share, &export_error_shares, EXPORT_ERRORS);
		c = bpf_map_lookup_elem(&export_errors, &key);
	}
	if (c)
		__sync_fetch_and_add(&c->n, 1);
	else
		lose(LOST_GROUP);
	return 0;
}

/* The process of the key, unless it is another one by now. */
static __always_inline struct process *export_process(const struct export_key *key)
{
	struct process *p = bpf_map_lookup_elem(&processes, &key->pid);

	return p && p->program == key->program ? p : NULL;
}

/* Call at the return of a call that failed.  An error of earlier work counts where it is first reported: every later
 * call may report it again. */
static __always_inline void export_failed(const struct export_key *key, __u64 id, int ret)
{
	struct process *p;

	export_count_error(key->program, key->pid, id, ret);
	if (!cuda_error_is_sticky(ret))
		return;
	p = export_process(key);
	if (!p || !__sync_bool_compare_and_swap(&p->stuck, 0, 1))
		return;
	export_any_stuck = true;
	export_count_error(key->program, key->pid, EXPORT_STICKY + cuda_libs[bounded(id, CUDA_ID_MAX - 1)], ret);
}

/* Call where a launch or a wait succeeds. */
static __always_inline void export_recovered(const struct export_key *key)
{
	struct process *p = export_any_stuck ? export_process(key) : NULL;

	if (p)
		p->stuck = 0;
}

#endif
