/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <linux/bpf.h>
#include "shmmap/layout.h"

/* How often other threads may be faster. */
enum { TRIES = 10000 };

static bool ring_swap(__u64 *at, __u64 from, __u64 to)
{
	return __atomic_compare_exchange_n(at, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Return true if that many bytes from made on are free; false for an invalid read. */
static bool is_room(const struct shmmap_map *m, __u64 read, __u64 made, __u64 bytes)
{
	return read <= made && made - read <= m->max_entries && bytes <= m->max_entries - (made - read);
}

/* Takes the free bytes at made.  Returns false if another thread was faster. */
static bool claim(const struct shmmap_map *m, __u64 made, __u64 header, __u64 bytes)
{
	struct shmmap_ring *r = (struct shmmap_ring *)m->at;
	__u64 *word = shmmap_ring_word(m, made), now;

	if (!ring_swap(word, shmmap_ring_free(m, made), header))
		return false;
	if (ring_swap(&r->made, made, made + bytes))
		return true;
	now = __atomic_load_n(&r->made, __ATOMIC_ACQUIRE);
	if (now - made <= m->max_entries)
		return true;	/* another thread has moved it for this one */
	/* this thread slept for a whole round: that was inside a record */
	ring_swap(word, header, shmmap_ring_free(m, made));
	return false;
}

/* One try.  Returns how many bytes it took at *made: as many as wanted, or the rest of the buffer.  0 if another thread was
 * faster, -1 if there is no room, or the word there is invalid. */
static long try_once(const struct shmmap_map *m, __u64 size, __u32 self, __u64 *made)
{
	struct shmmap_ring *r = (struct shmmap_ring *)m->at;
	__u64 read = __atomic_load_n(&r->read, __ATOMIC_ACQUIRE), bytes = shmmap_ring_takes(size), left, there;
	__u64 header = (__u64)self << 32 | RING_BUSY | size, at;

	/* only now, so that read is not beyond it */
	at = *made = __atomic_load_n(&r->made, __ATOMIC_ACQUIRE);
	left = m->max_entries - (at & (m->max_entries - 1));
	if (left < bytes) {
		bytes = left;
		header = (__u64)self << 32 | RING_SKIP | (left - RING_HEADER);
	}
	if (at % 8 || !is_room(m, read, at, bytes))
		return __atomic_load_n(&r->made, __ATOMIC_ACQUIRE) == at ? -1 : 0;
	there = __atomic_load_n(shmmap_ring_word(m, at), __ATOMIC_ACQUIRE);
	if (there == shmmap_ring_free(m, at))
		return claim(m, at, header, bytes) ? (long)bytes : 0;
	if (shmmap_ring_fits(m, at, there)) {
		/* that thread had no time to move it yet, or never will */
		ring_swap(&r->made, at, at + shmmap_ring_takes(shmmap_ring_size(there)));
		return 0;
	}
	return __atomic_load_n(&r->made, __ATOMIC_ACQUIRE) == at ? -1 : 0;
}

void *shmmap_ring_reserve(const struct shmmap_map *m, __u64 size, __u32 self)
{
	long bytes = 0;
	__u64 made;

	if (m->type != BPF_MAP_TYPE_RINGBUF || size > m->max_entries / 4)
		return NULL;
	for (int tries = 0; bytes >= 0 && tries < TRIES; tries++) {
		bytes = try_once(m, size, self, &made);
		/* the rest of the buffer is less than that */
		if (bytes > 0 && (__u64)bytes >= shmmap_ring_takes(size))
			return shmmap_ring_word(m, made) + 1;
	}
	return NULL;
}

/* The header is not this thread's any more if it was taken for dead. */
static void end(void *record, __u64 flag)
{
	__u64 *header = (__u64 *)record - 1, was = __atomic_load_n(header, __ATOMIC_RELAXED);

	if (was & RING_BUSY)
		__atomic_store_n(header, (was & ~(__u64)RING_BUSY) | flag, __ATOMIC_RELEASE);
}

void shmmap_ring_submit(void *record)
{
	end(record, 0);
}

void shmmap_ring_discard(void *record)
{
	end(record, RING_SKIP);
}

__u64 shmmap_ring_query(const struct shmmap_map *m, __u64 what)
{
	struct shmmap_ring *r = (struct shmmap_ring *)m->at;
	__u64 read = __atomic_load_n(&r->read, __ATOMIC_ACQUIRE), made = __atomic_load_n(&r->made, __ATOMIC_ACQUIRE);

	switch (what) {
	case BPF_RB_AVAIL_DATA:
		return made - read < m->max_entries ? made - read : m->max_entries;
	case BPF_RB_RING_SIZE:
		return m->max_entries;
	case BPF_RB_CONS_POS:
		return read;
	case BPF_RB_PROD_POS:
		return made;
	default:
		return 0;
	}
}
