/* SPDX-License-Identifier: GPL-2.0 */
/* Counts calls in groups with a histogram each. */
#ifndef LIB_AGGREGATE_COUNTS_BPF_H
#define LIB_AGGREGATE_COUNTS_BPF_H
#include "abi/bpf_names.h"
#include "lib/lost.bpf.h"
#include "lib/shares.bpf.h"
#include "lib/slots.bpf.h"
#include "lib/task.bpf.h"
#include "abi/aggregate_group.h"

/* Set by the tool. */
const volatile bool aggregate_pids;	/* aggregate by process, too */
const volatile bool aggregate_streams;	/* and by stream */

/* Changed by user space, which then owns what was counted before. */
volatile __u32 aggregate_epoch;

/* A program can be interrupted by another thread's on the same CPU, and a value in the map is shared by all: hence the
 * atomic operations, which cost little without contention. */

/* For keys whose element in aggregate_slots has another key.  Not per CPU: a value has 4 KiB. */
enum { AGGREGATES = 16384 /* of an epoch */ };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 2 * AGGREGATES);
	__type(key, struct aggregate_key);
	__type(value, struct aggregate_values);
} aggregates SEC(".maps");

/* Of even and of odd epochs.  User space clears those of an epoch that it has collected. */
struct shares aggregate_shares[2] SEC(SECTION_SHARES);

static const struct aggregate_values aggregate_none;

static __always_inline void aggregate_raise(__u64 *at, __u64 v)
{
	__u64 old = *(volatile __u64 *)at, seen;

	for (int i = 0; i < 16 && v > old; i++) {
		seen = __sync_val_compare_and_swap(at, old, v);
		if (seen == old)
			return;
		old = seen;
	}
}

static __always_inline bool aggregate_same(const struct aggregate_key *a, const struct aggregate_key *b)
{
	return a->epoch == b->epoch && a->pid == b->pid && a->key == b->key && a->series == b->series &&
	       a->device == b->device && a->peer == b->peer &&
	       (!aggregate_streams || a->stream == b->stream);
}

static __always_inline __u32 aggregate_place(const struct aggregate_key *key)
{
	__u32 streams = aggregate_streams ? key->stream >> 4 ^ key->stream >> 12 : 0, device = key->device;

	barrier_var(device);	/* not read together with peer: a processor waits for all stores if two of them made what it loads */
	return (key->key + key->series * 11 + key->epoch * 17 + key->pid * 7 +
		device * 5 + key->peer * 3 + streams) % AGGREGATE_SLOTS;
}

SLOT_TABLE(aggregate_slots, AGGREGATE_SLOTS, struct aggregate_slot, struct aggregate_key, aggregate_place, aggregate_same)

/* The key's values in the map, added if need be; NULL if there are too many. */
static __noinline struct aggregate_values *aggregate_new(const struct aggregate_key *key)
{
	struct aggregate_values *s;
	bool mine;
	__u32 share;

	mine = share_add(&aggregates, key, &aggregate_none, &share, &aggregate_shares[key->epoch & 1], AGGREGATES);
	s = bpf_map_lookup_elem(&aggregates, key);	/* another thread may have added it */
	if (s && mine)
		thread_comm(s->comm);
	return s;
}

/* The key's values; NULL if there are too many.  Sets *own: see slot_add(). */
static __always_inline struct aggregate_values *aggregate_find(const struct aggregate_key *key, bool *own)
{
	struct aggregate_slot *q = aggregate_slots_at(key);
	struct aggregate_values *s;

	*own = q && slot_is_own();
	if (q) {
		if (!q->values.comm[0])
			thread_comm(q->values.comm);
		return &q->values;
	}
	s = bpf_map_lookup_elem(&aggregates, key);
	return s ?: aggregate_new(key);
}

static __always_inline void aggregate_hist(struct hist *h, __u64 value, bool own)
{
	__u32 shift = hist_shift(highest_bit(value), HIST_BITS);
	__u64 slot = bounded(hist_slot(value, shift, HIST_BITS), HIST_SLOTS - 1), bit = 1ull << (slot & 63);
	__u64 *mixed = &h->mixed[slot / 64];

	slot_add(own, &h->slots[slot], 1);
	if (value >> shift << shift != value && !(*(volatile __u64 *)mixed & bit))
		__sync_fetch_and_or(mixed, bit);
}

static __always_inline void aggregate_add(const struct aggregate_key *key, __u64 value, __u64 ns,
					  __u64 shown, bool failed)
{
	bool own;
	struct aggregate_values *s = aggregate_find(key, &own);

	if (!s) {
		lose(LOST_GROUP);
		return;
	}
	if (failed) {
		__sync_fetch_and_add(&s->failed, 1);
		return;
	}
	if (value)
		slot_add(own, &s->sum, value);
	if (ns)
		slot_add(own, &s->ns, ns);
	aggregate_hist(&s->hist, shown, own);
	aggregate_raise(&s->least, ~shown);
	aggregate_raise(&s->most, shown);
}

static __always_inline struct aggregate_key aggregate_key(__u32 id)
{
	struct aggregate_key key = { .epoch = aggregate_epoch, .key = id };

	if (aggregate_pids)
		key.pid = thread_pid();
	return key;
}

#endif
