/* SPDX-License-Identifier: GPL-2.0 */
/* The ring buffer for records, which no user may fill.
 *
 * A user's unread records may take at most as many bytes as are still free.  To count them at every record would double its
 * cost, as would a query of the unread bytes, a counter that the reader's CPU writes.  So they are counted only while the
 * buffer is tight: from when an occasional check finds a quarter of it unread, until less than an eighth is.  The bytes unread
 * at that time are charged to no user; a single user then gets three eighths more, and leaves as much to others.  A user's
 * bytes are counted in two parts, with the positions of their ends: a part is dropped when the reader is past it. */
#ifndef LIB_RECORDS_BPF_H
#define LIB_RECORDS_BPF_H
#include "abi/bpf_names.h"
#include "lib/lost.bpf.h"
#include "lib/shares.bpf.h"

/* A tool may first define a size of its own: a power of two. */
#ifndef RECORDS_BYTES
#define RECORDS_BYTES (4 * 1024 * 1024)
#endif

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RECORDS_BYTES);
} events SEC(".maps");

/* The size that the tool has given it: more, if copies of stacks go through it. */
const volatile __u32 records_bytes SEC(SECTION_RECORDS) = RECORDS_BYTES;

enum { RECORDS_PILE = 64 * 1024, RECORDS_STEP = RECORDS_BYTES / 128 };

/* Bytes counted per CPU, each in its own cache line; a count lost to a race does not matter. */
static struct { __u64 n, unused[7]; } records_made[64];

static volatile bool records_tight;

/* A user's unread bytes while the buffer is tight: at most before + now.  from and to are positions as in
 * bpf_ringbuf_query(): where now begins, and the end. */
static struct records_share { __u64 from, to, before, now; } records_shares[SHARES_USERS];

static __always_inline void records_forget_read(struct records_share *s, __u64 made, __u64 read)
{
	__u64 from = s->from;

	if (read >= s->to)
		s->before = s->now = 0;
	else if (read >= from && __sync_val_compare_and_swap(&s->from, from, made) == from)
		s->before = __sync_lock_test_and_set(&s->now, 0);
}

/* Call while the buffer is tight: charges the record.  Returns true if it is more than the user's
 * share. */
GLOBAL_SUBPROG int records_beyond(__u64 size)
{
	__u64 made = bpf_ringbuf_query(&events, BPF_RB_PROD_POS);
	__u64 read = bpf_ringbuf_query(&events, BPF_RB_CONS_POS), unread = made - read;
	struct records_share *s = &records_shares[share_index(share_number())];

	if (unread < records_bytes / 8)
		records_tight = false;
	records_forget_read(s, made, read);
	if (s->before + s->now + size + size + unread > records_bytes)
		return true;
	__sync_fetch_and_add(&s->now, size);
	s->to = made + size;
	return false;
}

/* Call before a record is sent.  Returns true if it must not be. */
static __always_inline bool records_refused(__u64 size)
{
	return records_tight && records_beyond(size);
}

/* The flags for submitting a record.  Waking the reader for every one would double its cost.  The
 * reader polls every 10 ms; it is woken if an occasional check finds much unread, or if now is set. */
static __always_inline __u64 records_wakeup(__u64 size, bool now)
{
	__u64 *made = &records_made[bpf_get_smp_processor_id() % 64].n, then = *made, unread;

	*made = then + size;
	if ((then ^ (then + size)) < RECORDS_STEP)
		return now ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
	unread = bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA);
	if (unread >= records_bytes / 4)
		records_tight = true;
	return now || unread >= RECORDS_PILE ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

/* Sends a record, or counts it as lost and returns false.  now: wakes the reader. */
static __always_inline bool records_sent(void *record, __u64 size, bool now)
{
	if (!records_refused(size) &&
	    !bpf_ringbuf_output(&events, record, size, records_wakeup(size, now)))
		return true;
	lose(LOST_RECORD);
	return false;
}

static __always_inline void records_send(void *record, __u64 size, bool now)
{
	records_sent(record, size, now);
}

#endif
