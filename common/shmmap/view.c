/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <linux/bpf.h>
#include "shmmap/layout.h"

enum {
	LINE = 64,			/* bytes of a cache line: concurrent writers have one each */
	MOST_LANES = 16384,
	MOST_STORAGES = 32,		/* bits of struct inject_thread's used */
	MOST_OWN = 1 << 20,		/* bytes of a thread's own memory */
};

static const __u64 most_bytes = 1ull << 40;	/* of a map: unused pages are no memory */

static __u64 view_up(__u64 n, __u64 to)
{
	return (n + to - 1) / to * to;
}

/* Sets where the parts of a hash are. */
static void place_hash(struct shmmap_map *m)
{
	__u64 heads = sizeof(struct shmmap_hash) + shmmap_words(m) * sizeof(__u64);

	m->buckets = 1;
	while (m->buckets < m->max_entries)
		m->buckets *= 2;
	m->elements = heads + m->buckets * sizeof(__u64);
	m->values = view_up(m->elements + m->max_entries * shmmap_element_size(m), LINE);
}

/* Sets lanes, stride and the parts of a hash.  Returns false if there is no such type. */
static bool place(struct shmmap_map *m, __u32 lanes)
{
	bool keys = m->type == BPF_MAP_TYPE_ARRAY || m->type == BPF_MAP_TYPE_PERCPU_ARRAY;

	m->lanes = 1;
	m->stride = view_up(m->value_size, sizeof(__u64));
	switch (m->type) {
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_PERCPU_HASH:
		m->lanes = lanes;
		/* fall through */
	case BPF_MAP_TYPE_TASK_STORAGE:
		m->stride = view_up(m->value_size, LINE);
		/* fall through */
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_HASH:
		break;
	case BPF_MAP_TYPE_RINGBUF:
		return !(m->max_entries & (m->max_entries - 1)) && m->max_entries >= SMALLEST_PAGE;
	default:
		return false;
	}
	if (m->type == BPF_MAP_TYPE_HASH || m->type == BPF_MAP_TYPE_PERCPU_HASH)
		place_hash(m);
	return m->value_size && (keys ? m->key_size == sizeof(__u32) : m->key_size);
}

__u64 shmmap_map_layout(struct shmmap_map *m, __u32 lanes)
{
	__u64 n = m->type == BPF_MAP_TYPE_TASK_STORAGE ? INJECT_THREADS : m->max_entries, all;

	m->buckets = 0;
	m->elements = m->values = 0;
	/* no sum or product below overflows then, except the last, which is checked */
	if (!lanes || lanes > MOST_LANES || m->key_size > 1 << 16 || m->value_size > 1 << 26 || !n || n > 1 << 28 ||
	    !place(m, lanes))
		return 0;
	if (m->type == BPF_MAP_TYPE_RINGBUF)
		return INJECT_PAGE + view_up(n, INJECT_PAGE);
	if (__builtin_mul_overflow((__u64)m->stride * m->lanes, n, &all) || all > most_bytes)
		return 0;
	return view_up(m->values + all, INJECT_PAGE);
}

/* Return true if n elements of size bytes at at are in the memory, from a multiple of align on. */
static bool inside(const struct shmmap *s, __u64 at, __u64 n, __u64 size, __u32 align)
{
	return at % align == 0 && at <= s->bytes && n <= (s->bytes - at) / size;
}

/* Copies a map's entry of the head, and checks it. */
static bool view_map(struct shmmap *s, const struct inject_map *from, struct shmmap_map *m, __u32 *storages)
{
	__u64 at = from->at;

	*m = (struct shmmap_map){ .type = from->type, .key_size = from->key_size, .value_size = from->value_size };
	m->max_entries = from->max_entries;
	m->bytes = from->bytes;
	m->fixed = from->fixed != 0;
	m->index = m - s->map;
	__builtin_memcpy(m->name, from->name, sizeof(m->name));
	m->name[sizeof(m->name) - 1] = 0;
	if (!m->bytes || m->bytes != shmmap_map_layout(m, s->lanes) || !inside(s, at, m->bytes, 1, INJECT_PAGE))
		return false;
	m->at = (from->fixed ? (char *)s->fixed : s->base) + at;
	if (m->type != BPF_MAP_TYPE_TASK_STORAGE)
		return true;
	m->storage = (*storages)++;
	m->own = s->own;
	s->own += m->stride;
	return *storages <= MOST_STORAGES && s->own <= MOST_OWN;
}

bool shmmap_view(struct shmmap *s, void *base, const void *fixed, __u64 bytes)
{
	const struct inject_head *head = fixed;
	__u64 functions_at, names_at, threads_at;
	__u32 storages = 0;

	if (bytes < sizeof(*head) || (unsigned long)base % SMALLEST_PAGE || (unsigned long)fixed % SMALLEST_PAGE)
		return false;
	s->base = base;
	s->fixed = fixed;
	s->bytes = bytes;
	s->head = base;
	s->own = 0;
	/* each is read once: it may change after the check */
	s->lanes = *(volatile __u32 *)&head->lanes;
	s->maps = *(volatile __u32 *)&head->maps;
	s->functions = *(volatile __u32 *)&head->functions;
	s->names_bytes = *(volatile __u64 *)&head->names_bytes;
	functions_at = *(volatile __u64 *)&head->functions_at;
	names_at = *(volatile __u64 *)&head->names_at;
	threads_at = *(volatile __u64 *)&head->threads_at;
	if (head->version != INJECT_VERSION || head->bytes != bytes || s->maps > INJECT_MAPS ||
	    s->functions > INJECT_FUNCTIONS || !inside(s, functions_at, s->functions, sizeof(*s->function), 8) ||
	    !inside(s, names_at, s->names_bytes, 1, 1) ||
	    !inside(s, threads_at, INJECT_THREADS, sizeof(*s->threads), LINE))
		return false;
	s->function = (const struct inject_function *)(s->fixed + functions_at);
	s->toggle = (struct inject_function *)(s->base + functions_at);
	s->names = s->fixed + names_at;
	s->threads = (struct inject_thread *)(s->base + threads_at);
	for (__u32 i = 0; i < s->maps; i++) {
		struct inject_map copy;

		__builtin_memcpy(&copy, &head->map[i], sizeof(copy));
		__asm__ volatile("" : : "r"(&copy) : "memory");	/* the compiler shall not read it again */
		if (!view_map(s, &copy, &s->map[i], &storages))
			return false;
	}
	return true;
}

struct shmmap_map *shmmap_find(struct shmmap *s, const char *name)
{
	for (__u32 i = 0; i < s->maps; i++) {
		const char *a = s->map[i].name, *b = name;

		while (*a && *a == *b)
			a++, b++;
		if (*a == *b)
			return &s->map[i];
	}
	return NULL;
}
