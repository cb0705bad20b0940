/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The layout of a hash and a ring buffer in the memory.  Private to common/shmmap.
 *
 * A hash has lists of elements, one for each bucket, as Harris and Michael have described them (M. Michael, "High
 * Performance Dynamic Lock-Free Hash Tables and List-Based Sets", 2002): nothing is ever locked.  A link, that is a
 * bucket's head or the first word of an element, has the next element's number, a mark (this element is deleted: its
 * link does not change any more while it is in the list), and a tag, which differs after each change.  So a link with the
 * same value has not changed meanwhile, and the element after it is in this list.  New elements are added at the head of
 * the list: while the head is the same, no other thread has added the same key.  A walk over the list unlinks deleted
 * elements. */
#ifndef SHMMAP_LAYOUT_H
#define SHMMAP_LAYOUT_H
#include "shmmap/shmmap.h"

#define LINK_MARK (1ull << 32)	/* below it the element's number, 0 for none; above it the tag */
enum { LINK_TAG_SHIFT = 33 };

struct shmmap_hash {
	__u32 hand;		/* where the search for a free element begins: a freed one stays unused for long */
	__u32 spare[15];
	__u64 taken[];		/* bit i: element i is in use; then the heads, elements and values */
};

struct shmmap_element {
	__u64 link;
	__u32 hash;		/* of the key, all bits */
	__u32 used;		/* it was in use before: its values are not 0 */
	char key[];
};

/* How many words say which elements are taken. */
static inline __u64 shmmap_words(const struct shmmap_map *m)
{
	return ((__u64)m->max_entries + 63) / 64;
}

static inline __u64 shmmap_element_size(const struct shmmap_map *m)
{
	return sizeof(struct shmmap_element) + ((m->key_size + 7ull) & ~7ull);
}

/* Element i, less than max_entries. */
static inline struct shmmap_element *shmmap_element(const struct shmmap_map *m, __u32 i)
{
	return (struct shmmap_element *)(m->at + m->elements + i * shmmap_element_size(m));
}

static inline char *shmmap_value(const struct shmmap_map *m, __u32 i, __u32 lane)
{
	if (lane >= m->lanes)
		lane %= m->lanes;
	return m->at + m->values + ((__u64)i * m->lanes + lane) * m->stride;
}

/* The number of the key's element, from 1 on; 0 if there is none; -EBUSY: see shmmap_update(). */
long shmmap_hash_find(const struct shmmap_map *m, const void *key);

/* The first page of a ring buffer; its bytes follow.  A position counts all bytes since the beginning.  A record's position
 * has its header, or, while it has none, shmmap_ring_free() of the position: the tool writes that to all words that it has
 * read, and a writer changes it into a header.  So made never moves beyond a missing header, and any thread can move it for
 * one that was killed in between. */
struct shmmap_ring {
	__u64 made;		/* position after the last record */
	__u64 unused[7];
	__u64 read;		/* where the tool is; in another cache line, as writers change the first one */
};

#define RING_BUSY (1u << 31)	/* not submitted yet; lower bits: the size; upper half: self */
#define RING_SKIP (1u << 30)	/* discarded, or what is left at the end */
enum { RING_HEADER = 8 };

static inline __u64 *shmmap_ring_word(const struct shmmap_map *m, __u64 position)
{
	return (__u64 *)(m->at + INJECT_PAGE + (position & (m->max_entries - 1)));
}

/* Free marker: 0 in new memory, later a bit pattern that is unlikely in a record: a thread that slept for a whole round must
 * not take a record's bytes for free space. */
static inline __u64 shmmap_ring_free(const struct shmmap_map *m, __u64 position)
{
	return position / m->max_entries * 0x9e3779b97f4a7c15ull;
}

/* Bytes that a record takes, with its header. */
static inline __u64 shmmap_ring_takes(__u64 size)
{
	return RING_HEADER + ((size + 7) & ~7ull);
}

/* The size in a header. */
static inline __u32 shmmap_ring_size(__u64 header)
{
	return (__u32)header & ~(RING_BUSY | RING_SKIP);
}

/* Return true if this can be a header at this position: no record goes beyond the buffer's end. */
static inline bool shmmap_ring_fits(const struct shmmap_map *m, __u64 position, __u64 header)
{
	return shmmap_ring_takes(shmmap_ring_size(header)) <= m->max_entries - (position & (m->max_entries - 1));
}

#endif
