/* SPDX-License-Identifier: GPL-2.0 */
/* Counts calls in groups: without call stacks in the kernel, where nothing is sent; with them
 * by a record for each call, which user space adds up.  To be included after cuda.bpf.h by a
 * tool whose struct thread_data has a struct tally_state tally. */
#ifndef TALLY_BPF_H
#define TALLY_BPF_H
#include "lib/processes.bpf.h"
#include "lib/records.bpf.h"
#include "abi/aggregate.h"

/* Set by the tool. */
const volatile bool tally_stacks;	/* send records */
const volatile bool tally_pids;		/* groups are by process, too */

/* Changed by user space, which then has what was counted before to itself. */
volatile __u32 tally_epoch;

/* A program can be interrupted by another thread's on the same CPU: hence atomic operations,
 * which cost little where nobody else is. */

/* For the first groups of each CPU: an array's element is found at a tenth of a hash map's cost.
 * The tool makes it TALLY_QUICK elements for each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TALLY_QUICK);
	__type(key, __u32);
	__type(value, struct tally_quick);
} tallies_quick SEC(".maps");

/* For those that find another one at their place. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, struct tally_key);
	__type(value, struct tally);
} tallies SEC(".maps");

static const struct tally tally_none;

static __always_inline void tally_raise(__u64 *at, __u64 v)
{
	__u64 old = *(volatile __u64 *)at, seen;

	for (int i = 0; i < 16 && v > old; i++) {
		seen = __sync_val_compare_and_swap(at, old, v);
		if (seen == old)
			return;
		old = seen;
	}
}

/* The number of the highest bit that is set; 0 of 0, too. */
static __always_inline __u32 tally_slot(__u64 v)
{
	__u32 n = 0;

	for (int step = 32; step; step >>= 1)
		if (v >> step) {
			v >>= step;
			n += step;
		}
	return n & (TALLY_SLOTS - 1);
}

static __always_inline bool tally_same(const struct tally_key *a, const struct tally_key *b)
{
	return a->epoch == b->epoch && a->pid == b->pid && a->what == b->what && a->part == b->part;
}

/* Its place in the array; NULL if that is taken. */
static __always_inline struct tally *tally_at(const struct tally_key *key)
{
	__u32 at = (key->what + key->part * 11 + key->epoch * 17 + key->pid * 7) % TALLY_QUICK;
	struct tally_quick *q;

	at += bpf_get_smp_processor_id() * TALLY_QUICK;
	q = bpf_map_lookup_elem(&tallies_quick, &at);
	if (!q)
		return NULL;
	if (q->state == TALLY_TAKEN)
		return tally_same(&q->key, key) ? &q->tally : NULL;
	if (!__sync_bool_compare_and_swap(&q->state, TALLY_FREE, TALLY_TAKING))
		return NULL;
	q->key = *key;
	__sync_bool_compare_and_swap(&q->state, TALLY_TAKING, TALLY_TAKEN);
	return &q->tally;
}

static __always_inline void tally_add(const struct tally_key *key, __u64 value, __u64 ns,
				      __u64 shown, bool failed)
{
	struct tally *s = tally_at(key);

	if (!s)
		s = bpf_map_lookup_elem(&tallies, key);
	if (!s) {	/* it may be there by now */
		bpf_map_update_elem(&tallies, key, &tally_none, BPF_NOEXIST);
		s = bpf_map_lookup_elem(&tallies, key);
	}
	if (!s) {
		lose(LOST_GROUP);
		return;
	}
	if (!s->comm[0])
		thread_comm(s->comm);
	if (failed) {
		__sync_fetch_and_add(&s->failed, 1);
		return;
	}
	__sync_fetch_and_add(&s->count, 1);
	__sync_fetch_and_add(&s->sum, value);
	__sync_fetch_and_add(&s->ns, ns);
	__sync_fetch_and_add(&s->slots[tally_slot(shown)], 1);
	tally_raise(&s->least, ~value);
	tally_raise(&s->most, value);
}

static __always_inline void tally_send(struct pt_regs *ctx, struct tally_state *state,
				       const struct tally_key *key, __u64 value, __u64 ns,
				       __u64 shown, bool failed)
{
	const __u64 head = offsetof(struct tally_record, stack);
	struct tally_record *r = &state->record;
	bool first;
	long n;

	r->key = *key;
	r->value = value;
	r->ns = ns;
	r->shown = shown;
	r->pid = thread_pid();
	r->failed = failed;
	thread_comm(r->comm);
	n = bpf_get_stack(ctx, r->stack, sizeof(r->stack), BPF_F_USER_STACK);
	if (n < 0 || n > (long)sizeof(r->stack))
		n = 0;
	r->frames = (__u64)n / 8;
	first = process_is_new(&state->known, r->pid);
	if (bpf_ringbuf_output(&events, r, head + n, records_wakeup(first)))
		lose(LOST_RECORD);
}

static __always_inline struct tally_key tally_key(__u32 what)
{
	struct tally_key key = { .epoch = tally_epoch, .what = what };

	if (tally_pids)
		key.pid = thread_pid();
	return key;
}

static __always_inline void tally_gone(__u32 pid)
{
	struct tally_record *r;

	r = bpf_ringbuf_reserve(&events, offsetof(struct tally_record, stack), 0);
	if (!r) {
		lose(LOST_PROCESS);
		return;
	}
	__builtin_memset(r, 0, offsetof(struct tally_record, stack));
	r->key.what = TALLY_GONE;
	r->pid = pid;
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
}

/* Wanted with records only: stacks have their names from the mappings. */
PROCESS_PROGRAMS(tally.known, tally_gone)

char LICENSE[] SEC("license") = "GPL";
#endif
