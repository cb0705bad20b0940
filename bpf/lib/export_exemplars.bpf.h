/* SPDX-License-Identifier: GPL-2.0 */
/* The last call of each bucket, with --exemplars alone. */
#ifndef EXEMPLARS_BPF_H
#define EXEMPLARS_BPF_H
#ifndef THREAD_DATA
#error "define THREAD_DATA before this"
#endif
#include "lib/export_counts.bpf.h"

/* Set by the tool. */
const volatile bool export_exemplars;

enum { EXEMPLARS = 16384 };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, EXEMPLARS);
	__type(key, struct export_key);
	__type(value, struct export_exemplar);
} exemplars SEC(".maps");

/* User space gives back what it deletes. */
struct shares exemplar_shares SEC(".data.exemplar_shares");

/* Keeps a call that fell into a bucket of the key; without room for it there is none.  It replaces the one
 * before as a whole, as a reader or another CPU may look at that.  Not static: the verifier looks at it once. */
__noinline int export_keep(const struct export_key *key, __u32 bucket, __u32 id, __u64 value)
{
	struct export_exemplar e = {}, *was;
	struct export_key k;

	if (!key)		/* never: but the verifier does not know */
		return 0;
	k = *key;
	k.bucket = bucket;
	was = bpf_map_lookup_elem(&exemplars, &k);
	e.share = was ? was->share : share_take(&exemplar_shares, EXEMPLARS);
	if (e.share >= SHARES_USERS)
		return 0;
	e.value = value;
	e.time = bpf_ktime_get_ns();
	e.tid = bpf_get_current_pid_tgid();
	e.id = id;
	if (bpf_map_update_elem(&exemplars, &k, &e, was ? BPF_EXIST : BPF_NOEXIST) && !was)
		share_give_back(&exemplar_shares, e.share);
	return 1;
}

static __always_inline void export_exemplar(const struct export_key *key, __u32 bucket, __u32 id, __u64 value)
{
	if (export_exemplars)
		export_keep(key, bucket, id, value);
}

#endif
