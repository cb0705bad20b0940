/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "model/memory_live.h"

enum { MAX_KEPT = 1 << 23 };

static unsigned kept;

struct allocation *allocation_find(const struct mem_process *h, unsigned long long ptr, enum space space)
{
	struct { unsigned long long ptr, space; } key = { ptr, space };
	struct allocation *l;

	HASH_FIND(hh, h->allocations, &key, sizeof(key), l);
	return l;
}

static bool has_room(struct mem_process *h)
{
	if (kept >= MAX_KEPT) {
		h->ignored++;
		return false;
	}
	kept++;
	return true;
}

struct allocation *allocation_add(struct mem_process *h, unsigned long long ptr, enum space space,
		      unsigned long long size)
{
	struct allocation *l;

	if (!has_room(h))
		return NULL;
	l = xcalloc(1, sizeof(*l));
	l->key.ptr = ptr;
	l->key.space = space;
	l->size = size;
	HASH_ADD(hh, h->allocations, key, sizeof(l->key), l);
	h->count++;
	h->bytes += size;
	return l;
}

void allocation_drop(struct mem_process *h, struct allocation *l)
{
	kept--;
	h->count--;
	h->bytes -= l->size;
	h->unsure -= l->unsure;
	HASH_DEL(h->allocations, l);
	free(l);
}

struct map *map_find(const struct mem_process *h, unsigned long long ptr)
{
	struct map *m;

	HASH_FIND(hh, h->maps, &ptr, sizeof(ptr), m);
	return m;
}

struct map *map_add(struct mem_process *h, unsigned long long ptr)
{
	struct map *m;

	if (!has_room(h))
		return NULL;
	m = xcalloc(1, sizeof(*m));
	m->ptr = ptr;
	HASH_ADD(hh, h->maps, ptr, sizeof(m->ptr), m);
	return m;
}

void map_drop(struct mem_process *h, struct map *m)
{
	kept--;
	HASH_DEL(h->maps, m);
	free(m);
}
