/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "api/cuda_api.h"
#include "base/die.h"
#include "base/util.h"
#include "bpf/bpf_mmap.h"
#include "bpf/map_backend.h"
#include "model/export_maps.h"

enum { BATCH = 1024 };

/* cudaErrorNotReady: "This is not actually an error" (cuda_runtime_api.h). */
enum { ERROR_NOT_READY = 600 };

void export_maps_open(struct export_maps *m)
{
	m->nelements = bpf_map__max_entries(m->slots);
	m->elements = bpf_mmap_elements(m->slots);
	if (!m->elements)
		die(errno, "cannot map the probes' counts");
}

bool export_is_failure(const struct export_error *e)
{
	return e->id < EXPORT_STICKY && e->ret != ERROR_NOT_READY;
}

static void read_slots(struct export_maps *m, const struct export_reader *r)
{
	for (unsigned i = 0; i < m->nelements; i++) {
		struct export_slot *q = &m->elements[i];

		if (!slot_is_taken(&q->slot) || !r->values(r->ctx, &q->key, &q->values))
			continue;
		memset(&q->values, 0, sizeof(q->values));
		slot_give_back(&q->slot);
	}
}

/* A hash map's entries.  Allocated as needed: usually there are none, and room for all would be most of the tool's
 * memory. */
struct entries {
	size_t key, value;
	char *keys, *values;
	unsigned n, room;
};

static void make_room(struct entries *e, unsigned n)
{
	if (e->n + n <= e->room)
		return;
	e->room = e->n + n + e->room;
	e->keys = xrealloc(e->keys, e->room, e->key);
	e->values = xrealloc(e->values, e->room, e->value);
}

/* Returns false if that fails, which can happen while many entries are added. */
static bool read_batches(const struct bpf_map *map, struct entries *e)
{
	unsigned long long token = 0;
	int err = 0;

	while (!err && e->n < bpf_map__max_entries(map)) {
		unsigned batch = BATCH;

		make_room(e, BATCH);
		err = bpf_map_lookup_batch(bpf_map__fd(map), e->n ? &token : NULL, &token, e->keys + e->n * e->key,
					   e->values + e->n * e->value, &batch, NULL);
		if (err && err != -ENOENT)
			return false;
		e->n += batch;
	}
	return true;
}

/* Reads the map entry by entry, without those deleted meanwhile. */
static void read_each(const struct bpf_map *map, struct entries *e)
{
	unsigned left = bpf_map__max_entries(map);
	char *at = xcalloc(1, e->key);
	bool any = false;

	for (e->n = 0; left && !bmap_next(map, any ? at : NULL, at); left--) {
		any = true;
		make_room(e, 1);
		if (bmap_lookup(map, at, e->values + e->n * e->value))
			continue;
		memcpy(e->keys + e->n++ * e->key, at, e->key);
	}
	free(at);
}

/* Calls fn for each entry of a hash map, after reading all of them: fn may delete its entry. */
static void each(struct export_maps *m, const struct export_reader *r, const struct bpf_map *map,
		 void (*fn)(struct export_maps *m, const struct export_reader *r, const void *key, const void *value))
{
	struct entries e = { .key = bpf_map__key_size(map), .value = bpf_map__value_size(map) };

	if (bmaps_are_shared() || !read_batches(map, &e))
		read_each(map, &e);
	for (unsigned i = 0; i < e.n; i++)
		fn(m, r, e.keys + i * e.key, e.values + i * e.value);
	free(e.keys);
	free(e.values);
}

static void delete(const struct bpf_map *map, const void *key, struct shares *shares, unsigned user)
{
	if (!bmap_delete(map, key))
		shares_give_back(shares, user);
}

static void read_rest(struct export_maps *m, const struct export_reader *r, const void *key, const void *value)
{
	const struct export_entry *e = value;

	if (r->values(r->ctx, key, &e->values))
		delete(m->rest, key, m->rest_shares, e->share);
}

static void read_error(struct export_maps *m, const struct export_reader *r, const void *key, const void *value)
{
	const struct export_error_count *n = value;

	if (r->error(r->ctx, key, n->n))
		delete(m->errors, key, m->error_shares, n->share);
}

static void read_exemplar(struct export_maps *m, const struct export_reader *r, const void *key, const void *value)
{
	const struct export_exemplar *e = value;

	if (r->exemplar(r->ctx, key, e))
		delete(m->exemplars, key, m->exemplar_shares, e->share);
}

void export_maps_read(struct export_maps *m, const struct export_reader *r)
{
	if (r->values) {
		read_slots(m, r);
		each(m, r, m->rest, read_rest);
	}
	if (r->error)
		each(m, r, m->errors, read_error);
	if (r->exemplar && m->exemplars)
		each(m, r, m->exemplars, read_exemplar);
}
