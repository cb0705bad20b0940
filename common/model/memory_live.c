/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "model/memory_live.h"

enum { MAX_KEPT = 1 << 23 };

static unsigned kept;

struct live *live_find(const struct holder *h, unsigned long long ptr, enum space space)
{
	struct { unsigned long long ptr, space; } key = { ptr, space };
	struct live *l;

	HASH_FIND(hh, h->live, &key, sizeof(key), l);
	return l;
}

static bool has_room(struct holder *h)
{
	if (kept >= MAX_KEPT) {
		h->ignored++;
		return false;
	}
	kept++;
	return true;
}

struct live *live_add(struct holder *h, unsigned long long ptr, enum space space,
		      unsigned long long size)
{
	struct live *l;

	if (!has_room(h))
		return NULL;
	l = xcalloc(1, sizeof(*l));
	l->key.ptr = ptr;
	l->key.space = space;
	l->size = size;
	HASH_ADD(hh, h->live, key, sizeof(l->key), l);
	h->count++;
	h->bytes += size;
	return l;
}

void live_drop(struct holder *h, struct live *l)
{
	kept--;
	h->count--;
	h->bytes -= l->size;
	h->unsure -= l->unsure;
	HASH_DEL(h->live, l);
	free(l);
}

struct map *map_find(const struct holder *h, unsigned long long ptr)
{
	struct map *m;

	HASH_FIND(hh, h->maps, &ptr, sizeof(ptr), m);
	return m;
}

struct map *map_add(struct holder *h, unsigned long long ptr)
{
	struct map *m;

	if (!has_room(h))
		return NULL;
	m = xcalloc(1, sizeof(*m));
	m->ptr = ptr;
	HASH_ADD(hh, h->maps, ptr, sizeof(m->ptr), m);
	return m;
}

void map_drop(struct holder *h, struct map *m)
{
	kept--;
	HASH_DEL(h->maps, m);
	free(m);
}
