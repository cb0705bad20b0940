/* SPDX-License-Identifier: GPL-2.0 */
/* What cudaexporter counts of each process: read by user space at each scrape, and given back when the
 * program has ended. */
#ifndef EXPORT_COUNTS_BPF_H
#define EXPORT_COUNTS_BPF_H
#include "lib/task.bpf.h"
#include "lib/processes.bpf.h"
#include "lib/slots.bpf.h"
#include "abi/cudaexporter.h"

/* For keys whose place is taken.  One value for all CPUs: on a machine with hundreds of them, a value for
 * each would take a gigabyte. */
enum { EXPORT_COUNTS = 16384 };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, EXPORT_COUNTS);
	__type(key, struct export_key);
	__type(value, struct export_entry);
} export_counts SEC(".maps");

/* Of export_counts; user space gives back what it deletes. */
struct shares export_shares SEC(".data.export_shares");

/* Calls by enum export_group, one line for each CPU. */
struct { __u64 n[8]; } export_hits[64] SEC(".data.export_hits");

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct task_struct___real { struct cred *real_cred; };
#pragma clang attribute pop

/* How many binary digits v - 1 has; 0 for 0. */
static __always_inline __u32 digits_below(__u64 v)
{
	return v < 2 ? 0 : highest_bit(v - 1) + 1;
}

static __always_inline bool export_same(const struct export_key *a, const struct export_key *b)
{
	return a->program == b->program && a->pid == b->pid && a->id == b->id && a->device == b->device &&
	       a->what == b->what && a->detail == b->detail;
}

static __always_inline __u32 export_place(const struct export_key *key)
{
	__u64 mixed = key->program ^ (__u64)key->id << 40 ^ (__u64)key->device << 24 ^
		      (__u64)key->detail << 8 ^ (__u64)key->what << 4;

	return mixed * 0x9e3779b97f4a7c15 >> (64 - EXPORT_SLOT_BITS);
}

SLOT_TABLE(export_slots, EXPORT_SLOTS, struct export_slot, struct export_key, export_place, export_same)

static __always_inline struct export_values *export_in_map(const struct export_key *key)
{
	struct export_entry *e = bpf_map_lookup_elem(&export_counts, key);

	return e ? &e->values : NULL;
}

/* Adds the key to the map, unless there are too many.  Not static: the verifier looks at it once. */
__noinline int export_new(const struct export_key *key)
{
	struct export_entry none = {};
	struct export_key k;

	if (!key)
		return 0;
	k = *key;		/* a key must be on the stack (before Linux 6.2) */
	share_add(&export_counts, &k, &none, &none.share, &export_shares, EXPORT_COUNTS);
	return 1;
}

static __always_inline struct export_values *export_values_of(const struct export_key *key)
{
	struct export_slot *q = export_slots_at(key);
	struct export_values *v = q ? &q->values : NULL;

	if (!v)
		v = export_in_map(key);
	if (!v) {
		export_new(key);
		v = export_in_map(key);	/* another thread may have added it */
	}
	if (!v)
		lose(LOST_GROUP);
	return v;
}

/* Tells of the first call of a program in a process.  Not static, as above. */
__noinline int export_tell(__u64 program)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct export_seen *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		lose(LOST_RECORD);
		return 0;
	}
	e->head.pid = task->tgid;
	e->head.kind = EXPORT_SEEN;
	e->head.frames = 0;
	e->program = program;
	e->uid = BPF_CORE_READ((struct task_struct___real *)task, real_cred, uid.val);
	e->user = share_user();
	for (int i = 0; i < 16; i++)
		e->comm[i] = task->group_leader->comm[i];
	bpf_ringbuf_submit(e, records_wakeup(sizeof(*e), true));
	return 1;
}

/* Sets program and pid of the key.  Returns false if nothing can be recorded of the process: there are too
 * many.  A process may be known before it makes a call: the reader is told of the first one.  told belongs to
 * the thread. */
static __always_inline bool export_known(struct thread *t, __u64 *told, struct export_key *key)
{
	__u32 pid = thread_pid();
	struct process *p;
	bool first;

	if (!process_known(t, pid, &first))
		return false;
	key->program = t->program;
	key->pid = pid;
	if (*told == t->program)
		return true;
	*told = t->program;
	p = bpf_map_lookup_elem(&processes, &pid);
	if (p && !p->told) {
		p->told = 1;
		export_tell(t->program);
	}
	return true;
}

static __always_inline void export_hit(unsigned char class)
{
	__u32 group = class == CUDA_LAUNCH ? EXPORT_GROUP_LAUNCH : class == CUDA_COPY ? EXPORT_GROUP_COPY :
		      class == CUDA_SYNC ? EXPORT_GROUP_SYNC : EXPORT_GROUP_ALLOC;

	__sync_fetch_and_add(&export_hits[bpf_get_smp_processor_id() & 63].n[group], 1);
}

#endif
