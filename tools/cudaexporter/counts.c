/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "api/cuda_fn.h"
#include "base/clock.h"
#include "base/die.h"
#include "bpf/bpf_mmap.h"
#include "cudaexporter/counts.h"
#include "model/inflight.h"

/* The most error series of a label set; further errors are "other". */
enum { ERROR_SERIES = 64, BATCH = 1024 };

/* cudaErrorNotReady: "This is not actually an error" (cuda_runtime_api.h). */
enum { ERROR_NOT_READY = 600 };

void counts_open(struct counts *c, const struct counts_maps *maps, bool off_cpu, struct processes *processes)
{
	*c = (struct counts){ .maps = *maps, .off_cpu = off_cpu, .processes = processes };
	c->nelements = bpf_map__max_entries(maps->slots);
	c->elements = bpf_mmap_elements(maps->slots);
	if (!c->elements)
		die(errno, "cannot map the probes' counts");
}

/* Read for each collection: the clock may be set at any time. */
static unsigned long long time_of_day(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void count(const struct cuda_process *process, enum metric m, struct metric_labels labels,
		  unsigned long long n)
{
	(process->over ? series_count : series_count_live)(process->set, m, labels, n);
}

static void add_launches(struct counts *c, const struct cuda_process *process, const struct export_key *key,
			 const struct export_values *v)
{
	count(process, METRIC_LAUNCHES, metric_labels(key->device, key->detail), v->count);
	if (!process->over && v->last)
		series_max(process->set, METRIC_LAST_LAUNCH, (struct metric_labels){ 0 }, v->last + c->epoch);
}

static void add_copies(const struct cuda_process *process, const struct export_key *key,
		       const struct export_values *v)
{
	unsigned direction = key->detail & (EXPORT_ASYNC - 1);
	bool async = key->detail & EXPORT_ASYNC;

	series_observe(process->set, METRIC_COPY_SIZE, metric_labels(direction, async),
		       v->sizes, v->bytes, !process->over);
	if (!async)
		series_observe(process->set, METRIC_COPY_DURATION,
			       metric_labels(direction, 0), v->times, v->ns, !process->over);
}

static void add_waits(struct counts *c, const struct cuda_process *process, const struct export_key *key,
		      const struct export_values *v)
{
	series_observe(process->set, METRIC_SYNC_DURATION, metric_labels(key->id, 0),
		       v->times, v->ns, !process->over);
	if (c->off_cpu)
		count(process, METRIC_SYNC_OFF_CPU, (struct metric_labels){ 0 }, v->off_ns);
}

static void add(struct counts *c, const struct cuda_process *process, const struct export_key *key,
		const struct export_values *v)
{
	if (key->what == EXPORT_LAUNCH)
		add_launches(c, process, key, v);
	else if (key->what == EXPORT_COPY)
		add_copies(process, key, v);
	else if (key->what == EXPORT_SYNC)
		add_waits(c, process, key, v);
}

/* Returns the process of a key, added if need be (processes_admit()); NULL if it is not to be read now. */
static struct cuda_process *process_of(struct counts *c, unsigned pid, unsigned long long program)
{
	struct cuda_process *process = processes_admit(c->processes, pid, program);

	return !process || (c->only_over && !process->over) ? NULL : process;
}

static void read_slot(struct counts *c, struct export_slot *q)
{
	const struct cuda_process *process = process_of(c, q->key.pid, q->key.program);

	if (!process)
		return;
	add(c, process, &q->key, &q->values);
	if (!process->over)
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
	const struct cuda_process *process = process_of(c, k->pid, k->program);

	if (!process)
		return;
	add(c, process, k, &e->values);
	if (process->over)
		delete(c->maps.rest, k, c->maps.rest_shares, e->share);
}

/* Returns the labels of an error; "other" if its label set has too many. */
static struct metric_labels error_labels(struct label_set *set, const struct export_error *e)
{
	struct metric_labels labels = metric_labels(e->id, (unsigned)e->ret);

	if (series_of(set, METRIC_ERRORS, labels, false))
		return labels;
	if (set->errors >= ERROR_SERIES || !series_of(set, METRIC_ERRORS, labels, true))
		return metric_labels(METRIC_OTHER, 0);
	set->errors++;
	return labels;
}

static void read_error(struct counts *c, const void *key, const void *value)
{
	const struct export_error *e = key;
	const struct export_error_count *n = value;
	struct cuda_process *process = process_of(c, e->pid, e->program);

	if (!process)
		return;
	if (e->id >= EXPORT_STICKY)
		count(process, METRIC_STICKY_ERRORS,
		      metric_labels(e->id - EXPORT_STICKY, (unsigned)e->ret), n->n);
	else if (e->ret != ERROR_NOT_READY && e->id < CUDA_ID_MAX)
		count(process, METRIC_ERRORS, error_labels(process->set, e), n->n);
	if (process->over)
		delete(c->maps.errors, e, c->maps.error_shares, n->share);
}

static void read_exemplar(struct counts *c, const void *key, const void *value)
{
	const struct export_key *k = key;
	const struct export_exemplar *e = value;
	const struct cuda_process *process = process_of(c, k->pid, k->program);
	unsigned direction = k->detail & (EXPORT_ASYNC - 1);
	struct exemplar exemplar = { e->value, e->time + c->epoch, e->tid, e->id };

	if (!process)
		return;
	if (k->bucket < EXPORT_OF_TIMES)
		series_exemplify(process->set, METRIC_COPY_SIZE,
				 metric_labels(direction, !!(k->detail & EXPORT_ASYNC)),
				 k->bucket - EXPORT_OF_SIZES, &exemplar);
	else
		series_exemplify(process->set,
				 k->what == EXPORT_COPY ? METRIC_COPY_DURATION : METRIC_SYNC_DURATION,
				 metric_labels(k->what == EXPORT_COPY ? direction : k->id, 0),
				 k->bucket - EXPORT_OF_TIMES, &exemplar);
	if (process->over)
		delete(c->maps.exemplars, k, c->maps.exemplar_shares, e->share);
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

/* Calls fn for each entry of a hash map, after reading all of them: fn may delete its entry. */
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
	each(c, c->maps.rest, read_rest);
	each(c, c->maps.errors, read_error);
	if (c->maps.exemplars)
		each(c, c->maps.exemplars, read_exemplar);
	processes_reap(c->processes);
}

static enum export_group group_of(const struct inflight_row *row)
{
	int id = cuda_fn_find(row->func);

	switch (id < 0 ? CUDA_ALLOC : cuda_fns[id].class) {
	case CUDA_COPY:
		return EXPORT_GROUP_COPY;
	case CUDA_LAUNCH:
		return EXPORT_GROUP_LAUNCH;
	case CUDA_SYNC:
		return EXPORT_GROUP_SYNC;
	default:
		return EXPORT_GROUP_ALLOC;
	}
}

void calls_inflight_collect(struct inflight *r, struct processes *c)
{
	const struct cuda_process *process;

	for (process = c->by_pid; process; process = process->hh_pid.next)
		for (unsigned g = 0; g < EXPORT_GROUPS; g++) {
			series_add(process->set, METRIC_CALLS_RUNNING, metric_labels(g, 0), 0);
			series_max(process->set, METRIC_CALL_RUNNING, metric_labels(g, 0), 0);
		}
	inflight_collect(r);
	for (size_t i = 0; i < r->n; i++) {
		const struct metric_labels group = metric_labels(group_of(&r->rows[i]), 0);

		process = processes_find(c, r->rows[i].pid);
		if (!process)
			process = processes_mapped(c, r->rows[i].pid);
		series_add(process->set, METRIC_CALLS_RUNNING, group, 1);
		series_max(process->set, METRIC_CALL_RUNNING, group, r->rows[i].age);
	}
	inflight_clear(r);
}
