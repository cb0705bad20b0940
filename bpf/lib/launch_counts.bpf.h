/* SPDX-License-Identifier: GPL-2.0 */
/* Counts launches by kernel or graph, device and stream. */
#ifndef LIB_LAUNCH_COUNTS_BPF_H
#define LIB_LAUNCH_COUNTS_BPF_H
#include "lib/records.bpf.h"
#include "lib/slots.bpf.h"
#include "lib/lost.bpf.h"
#include "abi/launch.h"

enum { COUNTS = 65536 };

/* For all CPUs, and preallocated: when a program launches thousands of kernels for the first time, the kernel cannot allocate
 * as many elements for each CPU in a probe.  Frequent keys move to the array below. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, COUNTS);
	__type(key, struct launch_key);
	__type(value, struct launch_count);
} counts SEC(".maps");

/* User space gives back what it deletes. */
struct shares counts_shares;

static __always_inline bool same_key(const struct launch_key *a, const struct launch_key *b)
{
	return a->func == b->func && a->program == b->program && a->pid == b->pid &&
	       a->kind == b->kind && a->generation == b->generation && a->device == b->device &&
	       a->stream == b->stream;
}

SLOT_TABLE(quick, LAUNCH_SLOTS, struct launch_slot, struct launch_key, launch_place, same_key)

/* The tool searches for such keys. */
static __always_inline void count_unreported(const struct launch_key *key)
{
	struct launch_count *c = bpf_map_lookup_elem(&counts, key);

	if (c)
		c->unreported = 1;
}

/* Adds a key and reports it; 0 if it exists, or if there are too many. */
GLOBAL_SUBPROG int count_new(struct launch_first *first, const struct launch_key *key, int driver,
			 long stack)
{
	struct launch_count none = { .driver = driver };
	struct launch_event *e;
	struct launch_key k;
	__u32 share;

	if (!first || !key)
		return 0;
	k = *key;		/* a key must be on the stack (before Linux 6.2) */
	share = share_take(&counts_shares, COUNTS);
	if (share >= SHARES_USERS)
		return 0;
	none.share = share + 1;
	if (bpf_map_update_elem(&counts, &k, &none, BPF_NOEXIST)) {
		share_give_back(&counts_shares, share);
		return 0;
	}
	e = &first->event;
	__builtin_memset(e, 0, sizeof(*e));
	e->head.pid = k.pid;
	e->head.kind = LAUNCH_FIRST;
	e->key = k;
	thread_comm(e->comm);
	if (stack < 0 || stack > (long)sizeof(first->stack))
		stack = 0;
	e->head.frames = (__u64)stack / 8;
	if (!records_sent(first, sizeof(*e) + stack, true))
		count_unreported(&k);
	return 1;
}

static __always_inline struct launch_count *quick_count(const struct launch_key *key)
{
	struct launch_slot *q = key->stack ? NULL : quick_find(key);

	return q ? &q->count : NULL;
}

/* Counts a key of the hash map in the array from now on, if its element there is free. */
static __always_inline struct launch_count *quick_begin(const struct launch_key *key, struct launch_count *c)
{
	struct launch_slot *q = key->stack ? NULL : quick_own(slot_here(&quick, launch_place(key), LAUNCH_SLOTS), key);

	if (!q)
		return c;
	q->count.paired = c->paired;
	q->count.driver = c->driver;
	slot_ready(&q->slot);
	return &q->count;
}

/* Other threads share the value; in the array those on this CPU, as a probe can be preempted.  first belongs to the thread;
 * stack is the size of its call stack in bytes. */
static __always_inline struct launch_count *count_of(struct launch_first *first,
						     const struct launch_key *key, bool driver,
						     long stack)
{
	struct launch_count *c;

	c = quick_count(key);
	if (c)
		return c;
	c = bpf_map_lookup_elem(&counts, key);
	if (c)
		return quick_begin(key, c);
	count_new(first, key, driver, stack);
	c = bpf_map_lookup_elem(&counts, key);	/* another thread may have added it */
	if (!c)
		lose(LOST_GROUP);
	return c;
}

#endif
