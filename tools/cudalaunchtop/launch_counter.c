/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "base/die.h"
#include "base/bpf_mmap.h"
#include "cudalaunchtop/launch_counter.h"

/* A counter's bytes on the heap, with its row and line when they are shown. */
enum { COUNTER_COST = sizeof(struct counter) + 450, SAME_KEY = 16 };

void counters_init(struct counters *cs, const struct bpf_map *counts, const struct bpf_map *quick,
		   struct shares *shares)
{
	*cs = (struct counters){
		.shares = shares, .quota = {
			.limit = 32 << 20, .what = "launches by kernel",
			.loss = "launches of further kernels are not shown",
		},
		.map = bpf_map__fd(counts), .cpus = libbpf_num_possible_cpus(),
		.array = quick, .nquick = bpf_map__max_entries(quick),
	};
	if (cs->cpus < 1)
		die(cs->cpus, "cannot determine the number of CPUs");
	cs->values = xcalloc(cs->cpus, sizeof(*cs->values));
	cs->quick = bpf_mmap_elements(quick);
	if (!cs->quick)
		die(errno, "cannot map %s", bpf_map__name(quick));
}

static void free_one(struct counters *cs, struct counter *c)
{
	quota_give(&cs->quota, c->program->program.user, COUNTER_COST);
	free(c);
}

static void free_former(struct counters *cs, bool all)
{
	struct counter *c, **at = &cs->former;

	while ((c = *at)) {
		if (all || c->program->counted) {
			*at = c->next;
			free_one(cs, c);
		} else {
			at = &c->next;
		}
	}
}

/* Those of a program go all at once, so that its list needs no change. */
static void free_counters(struct counters *cs, bool all)
{
	struct counter *c, *next;

	HASH_ITER(hh, cs->all, c, next) {
		if (!all && !c->program->counted)
			continue;
		HASH_DEL(cs->all, c);
		free_one(cs, c);
	}
}

void counters_free(struct counters *cs)
{
	free_counters(cs, true);
	free_former(cs, true);
	free(cs->values);
	quota_free(&cs->quota);
	bpf_munmap_elements(cs->array, cs->quick);
}

void counters_drop_ended(struct counters *cs)
{
	free_counters(cs, false);
	free_former(cs, false);
}

struct counter *counter_find(const struct counters *cs, const struct launch_key *key)
{
	struct counter *c;

	HASH_FIND(hh, cs->all, key, sizeof(*key), c);
	return c;
}

struct counter *counter_new(struct counters *cs, const struct launch_key *key,
			    struct launch_program *program)
{
	const struct program *p = &program->program;
	struct counter *c;

	if (!quota_take(&cs->quota, p->user, p->pid, COUNTER_COST))
		return NULL;
	c = xcalloc(1, sizeof(*c));
	c->key = *key;
	c->program = program;
	c->sibling = program->counters;
	program->counters = c;
	program->ncounters++;
	HASH_ADD(hh, cs->all, key, sizeof(*key), c);
	return c;
}

void counters_each_key(const struct counters *cs,
		       void (*fn)(void *ctx, const struct launch_key *key), void *ctx)
{
	struct launch_key key, *last = NULL;

	while (!bpf_map_get_next_key(cs->map, last, &key)) {
		fn(ctx, &key);
		last = &key;
	}
}

/* The shape is that of the last launch. */
static void add(struct launch_count *sum, const struct launch_count *one)
{
	sum->launches += one->launches;
	sum->failed += one->failed;
	sum->paired |= one->paired;
	sum->driver |= one->driver;
	sum->share |= one->share;
	if (one->time <= sum->time)
		return;
	sum->time = one->time;
	memcpy(sum->grid, one->grid, sizeof(sum->grid));
	memcpy(sum->block, one->block, sizeof(sum->block));
}

/* Returns the sum of the elements that the key has in the array. */
static struct launch_count read_quick(const struct counters *cs, const struct launch_key *key)
{
	size_t each = cs->nquick / cs->cpus, at = launch_place(key) % each;
	struct launch_count sum = { 0 };

	for (; at < cs->nquick; at += each)
		if (slot_is_taken(&cs->quick[at].slot) && !memcmp(&cs->quick[at].key, key, sizeof(*key)))
			add(&sum, &cs->quick[at].count);
	return sum;
}

void counter_pull(struct counters *cs, struct counter *c)
{
	struct launch_count sum = read_quick(cs, &c->key);
	unsigned long long launches, failed;

	if (bpf_map_lookup_elem(cs->map, &c->key, cs->values))
		return;
	for (int i = 0; i < cs->cpus; i++)
		add(&sum, &cs->values[i]);
	launches = sum.launches - c->seen.launches;
	failed = sum.failed - c->seen.failed;
	c->seen = sum;
	c->pending += launches;
	c->pending_failed += failed;
	c->total += launches;
	c->total_failed += failed;
	cs->total += launches;
}

/* Returns the former counter of this kernel, a new one if need be; NULL if there are too many. */
static struct counter *former_of(struct counters *cs, struct counter *c, const struct kernel *kernel)
{
	const struct program *p = &c->program->program;
	struct counter *was = c->was;

	for (int i = 0; was && i < SAME_KEY; i++, was = was->was)
		if (was->kernel == kernel)
			return was;
	if (!quota_take(&cs->quota, p->user, p->pid, COUNTER_COST))
		return NULL;
	was = xcalloc(1, sizeof(*was));
	was->key = c->key;
	was->program = c->program;
	was->stack = c->stack;
	was->kernel = kernel;
	was->was = c->was;
	c->was = was;
	was->next = cs->former;
	cs->former = was;
	return was;
}

void counter_split(struct counters *cs, struct counter *c, const struct kernel *kernel)
{
	struct counter *was = former_of(cs, c, kernel);

	if (!was)
		return;
	was->seen = c->seen;
	was->total += c->total;
	was->total_failed += c->total_failed;
	was->launches += c->launches;
	was->failed += c->failed;
	was->pending += c->pending;
	was->pending_failed += c->pending_failed;
	c->total = c->total_failed = c->launches = c->failed = 0;
	c->pending = c->pending_failed = 0;
}

static bool is_over(const struct counter *c)
{
	return c && c->program->over && !c->program->counted;
}

void counters_clear_ended(struct counters *cs)
{
	struct counter *c;

	for (size_t i = 0; i < cs->nquick; i++) {
		if (!slot_is_taken(&cs->quick[i].slot) || !is_over(counter_find(cs, &cs->quick[i].key)))
			continue;
		memset(&cs->quick[i].count, 0, sizeof(cs->quick[i].count));
		slot_give_back(&cs->quick[i].slot);
	}
	for (c = cs->all; c; c = c->hh.next)
		if (is_over(c) && !bpf_map_delete_elem(cs->map, &c->key))
			shares_give_back(cs->shares, c->seen.share - 1);
}

const struct kernel *counter_kernel(const struct counter *c)
{
	if (c->kernel || c->key.kind == LAUNCH_GRAPH)
		return c->kernel;
	return kernels_find(c->program->program.kernels, c->key.func);
}

unsigned long long counter_func(const struct counter *c)
{
	return c->key.kind == LAUNCH_GRAPH ? c->key.func :
	       kernels_handle(c->program->program.kernels, c->key.func);
}
