/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The tool's part.  Programs may change anything at any time: each word is read once, then checked. */
#include <linux/bpf.h>
#include <linux/errno.h>
#include <string.h>
#include "shmmap/layout.h"

int shmmap_read(const struct shmmap_map *m, const void *key, void *values)
{
	__u64 size = (m->value_size + 7ull) & ~7ull;
	const char *at = shmmap_lookup(m, key, 0);
	char *to = values;

	if (!at)
		return -ENOENT;
	for (__u32 i = 0; i < m->lanes; i++)
		memcpy(to + i * size, at + (__u64)i * m->stride, size);
	return 0;
}

int shmmap_next(struct shmmap_map *m, const void *key, void *next)
{
	struct shmmap_hash *h = (struct shmmap_hash *)m->at;
	__u32 i = key ? m->next : 0;

	if (!m->buckets)
		return -ENOENT;
	for (; i < m->max_entries; i++) {
		if (!(__atomic_load_n(&h->taken[i / 64], __ATOMIC_ACQUIRE) >> i % 64 & 1))
			continue;
		memcpy(next, shmmap_element(m, i)->key, m->key_size);
		if (shmmap_hash_find(m, next) != i + 1ll)
			continue;	/* not linked yet, or deleted */
		m->next = i + 1;
		return 0;
	}
	m->next = i;
	return -ENOENT;
}

/* Frees the words from one position to another for writers. */
static void set_free(const struct shmmap_map *m, __u64 from, __u64 to)
{
	while (from < to) {
		__u64 end = (from / m->max_entries + 1) * m->max_entries, what = shmmap_ring_free(m, from);
		__u64 *word = shmmap_ring_word(m, from);

		for (end = end < to ? end : to; from < end; from += sizeof(*word))
			__atomic_store_n(word++, what, __ATOMIC_RELAXED);
	}
}

/* Frees what was read up to to. */
static void advance(struct shmmap_reader *r, __u64 to)
{
	set_free(r->map, r->at + r->map->max_entries, to + r->map->max_entries);
	r->at = to;
}

static void tell_writers(const struct shmmap_reader *r)
{
	__atomic_store_n(&((struct shmmap_ring *)r->map->at)->read, r->at, __ATOMIC_RELEASE);
}

/* Corrupt header: continues at the writers' position, or, if that is invalid, too, drops everything. */
static void skip(struct shmmap_reader *r)
{
	struct shmmap_ring *ring = (struct shmmap_ring *)r->map->at;
	__u64 made = __atomic_load_n(&ring->made, __ATOMIC_ACQUIRE);

	r->dropped++;
	if (made % 8 == 0 && made > r->at && made - r->at <= r->map->max_entries) {
		advance(r, made);
		return;
	}
	set_free(r->map, r->at, r->at + r->map->max_entries);
	__atomic_store_n(&ring->made, r->at, __ATOMIC_RELEASE);
}

/* Return true if made can be where the writers were when it was read, and that is beyond this record. */
static bool is_beyond(const struct shmmap_reader *r, __u64 made, __u64 takes)
{
	return made % 8 == 0 && made - r->at >= takes && made - r->at <= r->map->max_entries;
}

/* Return true if writers have gone, or now go, beyond this record.  made: where they were, as far as is known. */
static bool is_made(const struct shmmap_reader *r, __u64 *made, __u64 takes)
{
	struct shmmap_ring *ring = (struct shmmap_ring *)r->map->at;

	if (is_beyond(r, *made, takes))
		return true;
	*made = r->at;
	if (!__atomic_compare_exchange_n(&ring->made, made, r->at + takes, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return is_beyond(r, *made, takes);
	*made = r->at + takes;
	return true;
}

/* Gives the record to fn.  Returns what that returns, at least 0 if it was not called. */
static int give(struct shmmap_reader *r, __u64 header, long *n)
{
	__u32 size = shmmap_ring_size(header);

	if (header & RING_SKIP)
		return 0;
	if (header & RING_BUSY || size > r->most) {
		r->dropped++;
		return 0;
	}
	memcpy(r->copy, shmmap_ring_word(r->map, r->at) + 1, size);
	++*n;
	return r->fn(r->ctx, r->copy, size);
}

long shmmap_ring_read(struct shmmap_reader *r)
{
	__u64 first = r->at, told = r->at, most = r->map->max_entries;
	struct shmmap_ring *ring = (struct shmmap_ring *)r->map->at;
	__u64 made = r->at;
	long n = 0;
	int err = 0;

	while (err >= 0 && r->at - first < most) {
		__u64 *word = shmmap_ring_word(r->map, r->at), header, takes;

		/* before the header; and not for each record, as all writers write there */
		if (made == r->at)
			made = __atomic_load_n(&ring->made, __ATOMIC_ACQUIRE);
		header = __atomic_load_n(word, __ATOMIC_ACQUIRE);
		if (header == shmmap_ring_free(r->map, r->at)) {
			if (made != r->at)	/* writers could not go beyond */
				skip(r);
			break;
		}
		takes = shmmap_ring_takes(shmmap_ring_size(header));
		if (!shmmap_ring_fits(r->map, r->at, header) || !is_made(r, &made, takes)) {
			skip(r);
			break;
		}
		if (header & RING_BUSY) {
			if (!r->is_dead(r->ctx, header >> 32))
				break;
			header = __atomic_load_n(word, __ATOMIC_ACQUIRE);	/* the thread may have submitted it before its end */
			if (shmmap_ring_takes(shmmap_ring_size(header)) != takes)
				continue;
		}
		err = give(r, header, &n);
		advance(r, r->at + takes);
		if (r->at - told >= most / 16) {
			tell_writers(r);
			told = r->at;
		}
	}
	tell_writers(r);
	return err < 0 ? err : n;
}
