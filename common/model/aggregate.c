/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "abi/bpf_names.h"
#include "base/log2_hist.h"
#include "bpf/bpf_mmap.h"
#include "bpf/map_backend.h"
#include "bpf/process_progs.h"
#include "model/aggregate.h"
#include "proc/process_table.h"
#include "sym/stack.h"
#include "sym/syms.h"

/* Heap bytes of a group, in the sorted list and as a row of call_stats. */
enum { GROUP_COST = sizeof(struct aggregate) + 256 };

void aggregate_prepare(struct aggregates *aggregates, struct bpf_object *obj, struct syms *syms,
		       struct process_table *processes)
{
	aggregates->syms = syms;
	aggregates->processes = processes;
	aggregates->shares = bpf_object__find_map_by_name(obj, SECTION_SHARES);
	aggregates->quota = (struct quota){
		.limit = 128 << 20, .what = "groups of calls by call stack",
		.loss = "calls of further groups are not counted",
	};
	process_progs_prepare(obj, syms || aggregates->other_records);
	if (syms)
		return;
	if (!aggregates->other_records)
		bpf_map__set_max_entries(bpf_object__find_map_by_name(obj, MAP_EVENTS), getpagesize());
	aggregates->slots = bpf_object__find_map_by_name(obj, MAP_AGGREGATE_SLOTS);
	bpf_mmap_per_cpu(aggregates->slots, AGGREGATE_SLOTS);
}

unsigned int aggregate_flip(volatile unsigned int *epoch)
{
	unsigned int old = *epoch;

	*epoch = old + 1;
	bmaps_settle();
	return old;
}

void aggregate_drain(struct bpf_map *map, unsigned int epoch, aggregate_drain_fn *fn, void *ctx)
{
	bool each_cpu = bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_HASH;
	size_t cpus = each_cpu ? libbpf_num_possible_cpus() : 1, size = bpf_map__key_size(map);
	void *value = xcalloc(cpus, (bpf_map__value_size(map) + 7) / 8 * 8);
	char *keys = NULL, *prev = NULL;
	size_t n = 0, room = 0;

	/* collect all keys first: deleting one would restart the walk */
	for (;;) {
		if (n == room) {
			room = room ? 2 * room : 64;
			keys = xrealloc(keys, room, size);
			prev = n ? keys + (n - 1) * size : NULL;
		}
		if (bmap_next(map, prev, keys + n * size))
			break;
		prev = keys + n++ * size;
	}
	for (size_t i = 0; i < n; i++) {
		const char *key = keys + i * size;

		if (memcmp(key, &epoch, sizeof(epoch)) || bmap_lookup(map, key, value))
			continue;
		fn(ctx, key, value);
		bmap_delete(map, key);
	}
	free(keys);
	free(value);
}

static struct aggregate_group group_key(const struct stack *stack, const struct aggregate_key *k,
					unsigned int series)
{
	struct aggregate_group key;

	memset(&key, 0, sizeof(key));
	key.stack = stack;
	key.pid = k->pid;
	key.key = k->key;
	key.series = series;
	key.device = k->device;
	key.peer = k->peer;
	key.stream = k->stream;
	return key;
}

static struct aggregate *aggregate_of_key(const struct aggregates *aggregates, const struct aggregate_group *key)
{
	struct aggregate *g;

	HASH_FIND(hh, aggregates->groups, key, sizeof(*key), g);
	return g;
}

static struct aggregate *aggregate_create(struct aggregates *aggregates, const struct aggregate_group *key)
{
	struct aggregate *g = xcalloc(1, sizeof(*g));

	g->key = *key;
	g->least = ~0ull;
	HASH_ADD(hh, aggregates->groups, key, sizeof(g->key), g);
	return g;
}

static void set_comm(struct aggregate *g, const char *comm)
{
	if (!*g->comm)
		memcpy(g->comm, comm, sizeof(g->comm) - 1);
}

static void add_values(struct aggregates *aggregates, const struct aggregate_key *key,
		       const struct aggregate_values *t)
{
	struct aggregate_group group = group_key(NULL, key, key->series);
	struct aggregate *g = aggregate_of_key(aggregates, &group) ?: aggregate_create(aggregates, &group);
	unsigned long long n = hist_join(&g->hist, &t->hist);

	set_comm(g, t->comm);
	g->count += n;
	g->failed += t->failed;
	g->sum += t->sum;
	g->ns += t->ns;
	if (n && ~t->least < g->least)
		g->least = ~t->least;
	if (t->most > g->most)
		g->most = t->most;
}

static void collect_one(void *ctx, const void *key, const void *values)
{
	add_values(ctx, key, values);
}

static void add_group(struct aggregate *to, const struct aggregate *from)
{
	to->count += from->count;
	to->failed += from->failed;
	to->replayed += from->replayed;
	to->sum += from->sum;
	to->ns += from->ns;
	if (from->least < to->least)
		to->least = from->least;
	if (from->most > to->most)
		to->most = from->most;
	hist_join(&to->hist, &from->hist);
}

static void aggregate_drop(struct aggregates *aggregates, struct aggregate *g)
{
	if (g->charged)
		quota_give(&aggregates->quota, g->user, GROUP_COST);
	free(g);
}

/* Groups whose stacks look the same become one. */
static void join_shown(struct aggregates *aggregates)
{
	struct aggregate *g, *next, *same;

	HASH_ITER(hh, aggregates->groups, g, next) {
		const struct stack *shown = stack_shown(g->key.stack);

		if (shown == g->key.stack)
			continue;
		HASH_DEL(aggregates->groups, g);
		g->key.stack = shown;
		same = aggregate_of_key(aggregates, &g->key);
		if (same) {
			add_group(same, g);
			aggregate_drop(aggregates, g);
		} else {
			HASH_ADD(hh, aggregates->groups, key, sizeof(g->key), g);
		}
	}
}

/* Of the 8,192 that a user may have: AGGREGATES in bpf/lib/aggregate_counts.bpf.h. */
enum { CROWD = 1024 };

bool aggregate_is_crowded(const struct aggregates *aggregates, unsigned int epoch)
{
	size_t size;
	const struct shares *shares = bpf_map__initial_value(aggregates->shares, &size);

	return *(const volatile unsigned long long *)&shares[epoch & 1].used > CROWD;
}

void aggregate_collect(struct aggregates *aggregates, struct bpf_map *rest, unsigned int epoch)
{
	struct bpf_map *slots = aggregates->slots;
	struct shares *shares;
	size_t size, n = slots ? bpf_map__max_entries(slots) : 0;

	if (slots && !aggregates->elements)
		aggregates->elements = bpf_mmap_elements(slots);
	if (slots && !aggregates->elements)	/* out of memory */
		die(errno, "cannot map %s", bpf_map__name(slots));
	for (size_t i = 0; i < n; i++) {
		struct aggregate_slot *slot = &aggregates->elements[i];

		if (!slot_is_taken(&slot->slot) || slot->key.epoch != epoch)
			continue;
		add_values(aggregates, &slot->key, &slot->values);
		memset(&slot->values, 0, sizeof(slot->values));
		slot_give_back(&slot->slot);
	}
	aggregate_drain(rest, epoch, collect_one, aggregates);
	shares = (struct shares *)bpf_map__initial_value(aggregates->shares, &size);
	shares_clear(&shares[epoch & 1]);
	join_shown(aggregates);
}

/* Returns the group, a new one if need be; NULL: too many. */
static struct aggregate *aggregate_find_or_add(struct aggregates *aggregates, const struct aggregate_group *key, int pid, const char *comm)
{
	struct aggregate *g = aggregate_of_key(aggregates, key);
	unsigned user;

	if (g)
		return g;
	user = process_user(aggregates->processes, pid);
	if (!quota_take(&aggregates->quota, user, pid, GROUP_COST))
		return NULL;
	g = aggregate_create(aggregates, key);
	g->user = user;
	g->charged = true;
	set_comm(g, comm);
	return g;
}

struct aggregate *aggregate_of(struct aggregates *aggregates, const struct aggregate_record *r,
			       unsigned int series)
{
	const struct stack *stack = stack_get(aggregates->syms, r->head.pid, r->stack,
					   r->head.frames);
	const struct aggregate_group key = group_key(stack, &r->key, series);

	return aggregate_find_or_add(aggregates, &key, r->head.pid, r->comm);
}

static void add_value(struct aggregate *g, unsigned long long value, unsigned long long ns, unsigned long long shown,
		      unsigned long long n)
{
	g->count += n;
	g->sum += value * n;
	g->ns += ns;
	if (shown < g->least)
		g->least = shown;
	if (shown > g->most)
		g->most = shown;
	hist_add(&g->hist, shown, n);
}

void aggregate_add_replays(struct aggregates *aggregates, const struct aggregate_replays *r)
{
	const struct aggregate_group key = group_key(r->stack, &r->key, r->key.series);
	struct aggregate *g = aggregate_find_or_add(aggregates, &key, r->pid, r->comm);

	if (!g)
		return;
	g->replayed += r->n;
	add_value(g, r->value, 0, r->value, r->n);
}

void aggregate_add_value(struct aggregate *g, unsigned long long value, unsigned long long ns,
			 unsigned long long shown)
{
	if (g)
		add_value(g, value, ns, shown, 1);
}

bool aggregate_record(struct aggregates *aggregates, const void *data, size_t size)
{
	const struct aggregate_record *r = data;
	struct aggregate *g;

	if (!record_is_whole(&r->head, size, offsetof(struct aggregate_record, stack)) ||
	    record_is_process_event(&r->head) || r->comm[sizeof(r->comm) - 1])
		return false;
	g = aggregate_of(aggregates, r, r->key.series);
	if (g && r->head.kind == AGGREGATE_FAILED)
		g->failed++;
	else
		aggregate_add_value(g, r->value, r->ns, r->shown);
	if (aggregates->second && r->head.kind == AGGREGATE_CALL)
		aggregate_add_value(aggregate_of(aggregates, r, AGGREGATE_SECOND), r->ns, r->more, r->ns);
	return true;
}

static int by_key(const void *a, const void *b)
{
	const struct aggregate_group *p = &(*(struct aggregate *const *)a)->key;
	const struct aggregate_group *q = &(*(struct aggregate *const *)b)->key;

	if (p->pid != q->pid)
		return p->pid < q->pid ? -1 : 1;
	if (p->key != q->key)
		return p->key < q->key ? -1 : 1;
	if (p->device != q->device)
		return p->device < q->device ? -1 : 1;
	if (p->peer != q->peer)
		return p->peer < q->peer ? -1 : 1;
	return p->stream < q->stream ? -1 : p->stream > q->stream;
}

static int by_sum(const void *a, const void *b)
{
	const struct aggregate *p = *(struct aggregate *const *)a, *q = *(struct aggregate *const *)b;

	if (p->sum != q->sum)
		return p->sum < q->sum ? 1 : -1;
	return by_key(a, b);
}

struct aggregate **aggregate_sorted(const struct aggregates *aggregates, bool largest_first,
				    size_t *n)
{
	struct aggregate **list, *g;

	list = xcalloc(HASH_COUNT(aggregates->groups) + 1, sizeof(*list));
	*n = 0;
	for (g = aggregates->groups; g; g = g->hh.next)
		if (!g->key.series)
			list[(*n)++] = g;
	qsort(list, *n, sizeof(*list), largest_first ? by_sum : by_key);
	return list;
}

const struct aggregate *aggregate_series(const struct aggregates *aggregates,
					 const struct aggregate *g, unsigned int series)
{
	struct aggregate_group key = g->key;
	const struct aggregate *other;

	key.series = series;
	HASH_FIND(hh, aggregates->groups, &key, sizeof(key), other);
	return other;
}

void aggregate_clear(struct aggregates *aggregates)
{
	struct aggregate *g, *next;

	HASH_ITER(hh, aggregates->groups, g, next) {
		HASH_DEL(aggregates->groups, g);
		aggregate_drop(aggregates, g);
	}
}

void aggregate_free(struct aggregates *aggregates)
{
	aggregate_clear(aggregates);
	quota_free(&aggregates->quota);
}
