/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "api/cuda_fn.h"
#include "bpf/bpf_mmap.h"
#include "base/clock.h"
#include "base/die.h"
#include "cudaexporter/counts.h"

/* Series of errors of a process, or of a sum; the rest is "other". */
enum { ERROR_SERIES = 64, BATCH = 1024 };

/* "This is not actually an error" (cuda_runtime_api.h: cudaErrorNotReady). */
enum { ERROR_NOT_READY = 600 };

void counts_open(struct counts *c)
{
	c->nelements = bpf_map__max_entries(c->slots);
	c->elements = bpf_mmap_elements(c->slots);
	if (!c->elements)
		die(errno, "cannot map what the probes count");
}

/* The clock may be set at any time. */
static unsigned long long time_of_day(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void count(struct counts *c, const struct client *client, enum metric m, struct metric_labels labels,
		  unsigned long long n)
{
	(client->over ? series_count : series_count_live)(c->table, client->owner, m, labels, n);
}

static void add_launches(struct counts *c, const struct client *client, const struct export_key *key,
			 const struct export_values *v)
{
	count(c, client, METRIC_LAUNCHES, (struct metric_labels){ key->device, key->detail }, v->count);
	if (!client->over && v->last)
		series_max(c->table, client->owner, METRIC_LAST_LAUNCH, (struct metric_labels){ 0 },
			   v->last + c->epoch);
}

static void add_copies(struct counts *c, const struct client *client, const struct export_key *key,
		       const struct export_values *v)
{
	unsigned direction = key->detail & (EXPORT_ASYNC - 1);
	bool async = key->detail & EXPORT_ASYNC;

	series_observe(c->table, client->owner, METRIC_COPY_SIZE, (struct metric_labels){ direction, async },
		       v->sizes, v->bytes, !client->over);
	if (!async)
		series_observe(c->table, client->owner, METRIC_COPY_DURATION,
			       (struct metric_labels){ direction, 0 }, v->times, v->ns, !client->over);
}

static void add_waits(struct counts *c, const struct client *client, const struct export_key *key,
		      const struct export_values *v)
{
	series_observe(c->table, client->owner, METRIC_SYNC_DURATION, (struct metric_labels){ key->id, 0 },
		       v->times, v->ns, !client->over);
	if (c->off_cpu)
		count(c, client, METRIC_SYNC_OFF_CPU, (struct metric_labels){ 0 }, v->off_ns);
}

static void add(struct counts *c, const struct client *client, const struct export_key *key,
		const struct export_values *v)
{
	if (key->what == EXPORT_LAUNCH)
		add_launches(c, client, key, v);
	else if (key->what == EXPORT_COPY)
		add_copies(c, client, key, v);
	else if (key->what == EXPORT_SYNC)
		add_waits(c, client, key, v);
}

/* Its client, if it is to be read now. */
static struct client *client_of(struct counts *c, unsigned pid, unsigned long long program)
{
	struct client *client = clients_counted(c->clients, pid, program);

	return !client || (c->only_over && !client->over) ? NULL : client;
}

static void read_slot(struct counts *c, struct export_slot *q)
{
	const struct client *client = client_of(c, q->key.pid, q->key.program);

	if (!client)
		return;
	add(c, client, &q->key, &q->values);
	if (!client->over)
		return;
	memset(&q->values, 0, sizeof(q->values));
	slot_give_back(&q->slot);
}

static void read_slots(struct counts *c)
{
	for (unsigned i = 0; i < c->nelements; i++)
		if (slot_is_taken(&c->elements[i].slot))
			read_slot(c, &c->elements[i]);
}

static void delete(const struct bpf_map *map, const void *key, struct shares *shares, unsigned user)
{
	if (!bpf_map_delete_elem(bpf_map__fd(map), key))
		shares_give_back(shares, user);
}

static void read_rest(struct counts *c, const void *key, const void *value)
{
	const struct export_key *k = key;
	const struct export_entry *e = value;
	const struct client *client = client_of(c, k->pid, k->program);

	if (!client)
		return;
	add(c, client, k, &e->values);
	if (client->over)
		delete(c->rest, k, c->rest_shares, e->share);
}

/* The series of an error; the one of all the others once a process has many. */
static struct metric_labels error_labels(struct counts *c, struct owner *owner, const struct export_error *e)
{
	struct metric_labels labels = { e->id, (unsigned)e->ret };

	if (series_of(c->table, owner, METRIC_ERRORS, labels, false))
		return labels;
	if (owner->errors >= ERROR_SERIES || !series_of(c->table, owner, METRIC_ERRORS, labels, true))
		return (struct metric_labels){ METRIC_OTHER, 0 };
	owner->errors++;
	return labels;
}

static void read_error(struct counts *c, const void *key, const void *value)
{
	const struct export_error *e = key;
	const struct export_error_count *n = value;
	struct client *client = client_of(c, e->pid, e->program);

	if (!client)
		return;
	if (e->id >= EXPORT_STICKY)
		count(c, client, METRIC_STICKY_ERRORS,
		      (struct metric_labels){ e->id - EXPORT_STICKY, (unsigned)e->ret }, n->n);
	else if (e->ret != ERROR_NOT_READY && e->id < CUDA_ID_MAX)
		count(c, client, METRIC_ERRORS, error_labels(c, client->owner, e), n->n);
	if (client->over)
		delete(c->errors, e, c->error_shares, n->share);
}

static void read_exemplar(struct counts *c, const void *key, const void *value)
{
	const struct export_key *k = key;
	const struct export_exemplar *e = value;
	const struct client *client = client_of(c, k->pid, k->program);
	unsigned direction = k->detail & (EXPORT_ASYNC - 1);
	struct exemplar exemplar = { e->value, e->time + c->epoch, e->tid, e->id };

	if (!client)
		return;
	if (k->bucket < EXPORT_OF_TIMES)
		series_exemplify(c->table, client->owner, METRIC_COPY_SIZE,
				 (struct metric_labels){ direction, !!(k->detail & EXPORT_ASYNC) },
				 k->bucket - EXPORT_OF_SIZES, &exemplar);
	else
		series_exemplify(c->table, client->owner,
				 k->what == EXPORT_COPY ? METRIC_COPY_DURATION : METRIC_SYNC_DURATION,
				 (struct metric_labels){ k->what == EXPORT_COPY ? direction : k->id, 0 },
				 k->bucket - EXPORT_OF_TIMES, &exemplar);
	if (client->over)
		delete(c->exemplars, k, c->exemplar_shares, e->share);
}

/* What a hash map has: lists that grow, as usually there is nothing, and room for all that there may be would be
 * most of the tool's memory. */
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

/* Returns false if that fails, as it may while many are added. */
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

/* Reads the map entry by entry; what is deleted meanwhile is left out. */
static void read_each(const struct bpf_map *map, struct entries *e)
{
	unsigned left = bpf_map__max_entries(map);
	char *at = xcalloc(1, e->key);
	int fd = bpf_map__fd(map);
	bool any = false;

	for (e->n = 0; left && !bpf_map_get_next_key(fd, any ? at : NULL, at); left--) {
		any = true;
		make_room(e, 1);
		if (bpf_map_lookup_elem(fd, at, e->values + e->n * e->value))
			continue;
		memcpy(e->keys + e->n++ * e->key, at, e->key);
	}
	free(at);
}

/* Calls fn for each entry of a hash map.  All are read before any is deleted. */
static void each(struct counts *c, const struct bpf_map *map,
		 void (*fn)(struct counts *c, const void *key, const void *value))
{
	struct entries e = { .key = bpf_map__key_size(map), .value = bpf_map__value_size(map) };

	if (!read_batches(map, &e))
		read_each(map, &e);
	for (unsigned i = 0; i < e.n; i++)
		fn(c, e.keys + i * e.key, e.values + i * e.value);
	free(e.keys);
	free(e.values);
}

void counts_read(struct counts *c, bool only_over)
{
	c->only_over = only_over;
	c->epoch = time_of_day() - clock_ns();
	read_slots(c);
	each(c, c->rest, read_rest);
	each(c, c->errors, read_error);
	if (c->exemplars)
		each(c, c->exemplars, read_exemplar);
	clients_reap(c->clients);
}
