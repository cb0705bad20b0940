/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <linux/bpf.h>
#include <linux/errno.h>
#include "shmmap/layout.h"

/* Elements examined in one call, repeatedly if others change the list, which usually has one or two.  It bounds the cost that a
 * program can cause the tool. */
enum { STEPS = 4096 };

/* A position in a list: the address of a link, and its value. */
struct walk {
	__u64 *at, link, head;
	__u64 next;		/* the found element's link */
	int steps;
};

static bool is_hash(const struct shmmap_map *m)
{
	return m->type == BPF_MAP_TYPE_HASH || m->type == BPF_MAP_TYPE_PERCPU_HASH;
}

static __u32 hash_of(const char *key, __u32 size)
{
	__u64 hash = size, word;

	for (; size >= sizeof(word); size -= sizeof(word), key += sizeof(word)) {
		__builtin_memcpy(&word, key, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 32;
	}
	for (word = 0; size; size--)
		word = word << 8 | (unsigned char)key[size - 1];
	hash = (hash ^ word) * 0xd6e8feb86659fd93ull;
	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93ull;
	return hash >> 32;
}

static bool same(const char *a, const char *b, __u32 size)
{
	__u64 x, y;

	for (; size >= sizeof(x); size -= sizeof(x), a += sizeof(x), b += sizeof(x)) {
		__builtin_memcpy(&x, a, sizeof(x));
		__builtin_memcpy(&y, b, sizeof(y));
		if (x != y)
			return false;
	}
	while (size && a[size - 1] == b[size - 1])
		size--;
	return !size;
}

static __u64 *bucket(const struct shmmap_map *m, __u32 hash)
{
	struct shmmap_hash *h = (struct shmmap_hash *)m->at;

	return &h->taken[shmmap_words(m) + (hash & (m->buckets - 1))];
}

/* The new value of a link that is to link to n. */
static __u64 relink(__u64 link, __u64 n)
{
	return ((link >> LINK_TAG_SHIFT) + 1) << LINK_TAG_SHIFT | n;
}

static bool hash_swap(__u64 *at, __u64 from, __u64 to)
{
	return __atomic_compare_exchange_n(at, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/* Takes a free element.  Returns its number from 1 on, or 0. */
static __u32 take(const struct shmmap_map *m)
{
	struct shmmap_hash *h = (struct shmmap_hash *)m->at;
	__u32 hand = __atomic_load_n(&h->hand, __ATOMIC_RELAXED) % m->max_entries;
	__u64 words = shmmap_words(m), w = hand / 64, left = ~0ull << hand % 64;

	for (__u64 n = 0; n <= words; n++, left = ~0ull, w = w + 1 < words ? w + 1 : 0) {
		left &= ~__atomic_load_n(&h->taken[w], __ATOMIC_RELAXED);
		if (w == words - 1 && m->max_entries % 64)
			left &= ~(~0ull << m->max_entries % 64);
		for (; left; left &= left - 1) {
			__u64 bit = left & -left;
			__u32 i = w * 64 + __builtin_ctzll(left) + 1;

			if (__atomic_fetch_or(&h->taken[w], bit, __ATOMIC_ACQUIRE) & bit)
				continue;
			__atomic_store_n(&h->hand, i, __ATOMIC_RELAXED);
			return i;
		}
	}
	return 0;
}

static void give_back(const struct shmmap_map *m, __u32 n)
{
	struct shmmap_hash *h = (struct shmmap_hash *)m->at;

	if (n)
		__atomic_fetch_and(&h->taken[(n - 1) / 64], ~(1ull << (n - 1) % 64), __ATOMIC_RELEASE);
}

/* Takes the deleted element n, whose link is next, out of the list. */
static bool take_out(const struct shmmap_map *m, struct walk *w, __u32 n, __u64 next)
{
	__u64 to = relink(w->link, (__u32)next);

	if (!hash_swap(w->at, w->link, to))
		return false;
	give_back(m, n);
	if (w->head == w->link)	/* it was the first */
		w->head = to;
	w->link = to;
	return true;
}

/* Returns the number of the key's element, 0, or -EBUSY, and where that is in w. */
static long find(const struct shmmap_map *m, const char *key, __u32 hash, struct walk *w)
{
	for (;;) {
		bool changed = false;

		w->at = bucket(m, hash);
		w->link = w->head = __atomic_load_n(w->at, __ATOMIC_ACQUIRE);
		while (!changed) {
			__u32 n = w->link;
			struct shmmap_element *e;
			bool found;

			if (!n)
				return 0;
			if (n > m->max_entries || --w->steps < 0)
				return -EBUSY;
			e = shmmap_element(m, n - 1);
			w->next = __atomic_load_n(&e->link, __ATOMIC_ACQUIRE);
			found = e->hash == hash && same(e->key, key, m->key_size);
			__atomic_thread_fence(__ATOMIC_ACQUIRE);	/* the reads above come before this one: */
			if (__atomic_load_n(w->at, __ATOMIC_ACQUIRE) != w->link) {
				changed = true;
			} else if (w->next & LINK_MARK) {
				changed = !take_out(m, w, n, w->next);
			} else if (found) {
				return n;
			} else {
				w->at = &e->link;
				w->link = w->next;
			}
		}
		if (--w->steps < 0)
			return -EBUSY;
	}
}

long shmmap_hash_find(const struct shmmap_map *m, const void *key)
{
	struct walk w = { .steps = STEPS };

	return find(m, key, hash_of(key, m->key_size), &w);
}

void *shmmap_lookup(const struct shmmap_map *m, const void *key, __u32 lane)
{
	long n = 0;
	__u32 i;

	if (is_hash(m)) {
		n = shmmap_hash_find(m, key);
	} else if (m->type == BPF_MAP_TYPE_ARRAY || m->type == BPF_MAP_TYPE_PERCPU_ARRAY) {
		__builtin_memcpy(&i, key, sizeof(i));
		n = i < m->max_entries ? i + 1ll : 0;
	}
	return n > 0 ? shmmap_value(m, n - 1, lane) : NULL;
}

/* Fills in the element before it is linked. */
static void fill(const struct shmmap_map *m, __u32 n, const void *key, __u32 hash, const void *value, __u32 lane)
{
	struct shmmap_element *e = shmmap_element(m, n - 1);

	/* a reader that finds one of these writes finds that its list has changed */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (e->used)
		__builtin_memset(shmmap_value(m, n - 1, 0), 0, (__u64)m->stride * m->lanes);
	e->used = 1;
	e->hash = hash;
	__builtin_memcpy(e->key, key, m->key_size);
	__builtin_memcpy(shmmap_value(m, n - 1, lane), value, m->value_size);
}

static int hash_update(const struct shmmap_map *m, const void *key, const void *value, __u64 flags, __u32 lane)
{
	__u32 hash = hash_of(key, m->key_size), new = 0;
	struct walk w = { .steps = STEPS };
	long n;

	while (!(n = find(m, key, hash, &w)) && !(flags & BPF_EXIST)) {
		struct shmmap_element *e;

		if (!new) {
			new = take(m);
			if (!new)
				return -E2BIG;
			fill(m, new, key, hash, value, lane);
		}
		e = shmmap_element(m, new - 1);
		__atomic_store_n(&e->link, relink(e->link, (__u32)w.head), __ATOMIC_RELAXED);
		if (hash_swap(bucket(m, hash), w.head, relink(w.head, new)))
			return 0;
		w.steps--;
	}
	give_back(m, new);
	if (n <= 0)
		return n < 0 ? n : -ENOENT;
	if (flags & BPF_NOEXIST)
		return -EEXIST;
	__builtin_memcpy(shmmap_value(m, n - 1, lane), value, m->value_size);
	return 0;
}

int shmmap_update(const struct shmmap_map *m, const void *key, const void *value, __u64 flags, __u32 lane)
{
	void *at;

	if (flags > BPF_EXIST)
		return -EINVAL;
	if (is_hash(m))
		return hash_update(m, key, value, flags, lane);
	at = shmmap_lookup(m, key, lane);
	if (!at)
		return -E2BIG;
	if (flags == BPF_NOEXIST)
		return -EEXIST;
	__builtin_memcpy(at, value, m->value_size);
	return 0;
}

int shmmap_delete(const struct shmmap_map *m, const void *key)
{
	struct walk w = { .steps = STEPS };
	__u32 hash;
	long n;

	if (!is_hash(m))
		return -EINVAL;
	hash = hash_of(key, m->key_size);
	while ((n = find(m, key, hash, &w)) > 0) {
		__u64 marked = relink(w.next, (__u32)w.next) | LINK_MARK;

		w.steps--;
		if (!hash_swap(&shmmap_element(m, n - 1)->link, w.next, marked))
			continue;
		if (!take_out(m, &w, n, marked))
			find(m, key, hash, &w);	/* takes it out */
		return 0;
	}
	return n < 0 ? n : -ENOENT;
}
