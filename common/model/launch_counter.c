/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "base/die.h"
#include "bpf/bpf_mmap.h"
#include "bpf/map_backend.h"
#include "model/launch_counter.h"

void counters_init(struct counters *cs, const struct bpf_map *counts, const struct bpf_map *quick,
		   struct shares *shares)
{
	*cs = (struct counters){
		.shares = shares, .quota = {
			.limit = 32 << 20, .what = "launches by kernel",
			.loss = "launches of further kernels are not shown",
		},
		.map = counts, .cpus = libbpf_num_possible_cpus(),
		.array = quick, .nquick = bpf_map__max_entries(quick),
	};
	TAILQ_INIT(&cs->retiring);
	if (cs->cpus < 1)
		die(cs->cpus, "cannot determine the number of CPUs");
	cs->quick = bpf_mmap_elements(quick);
	if (!cs->quick)
		die(errno, "cannot map %s", bpf_map__name(quick));
}

void counter_free(struct counters *cs, struct counter *c)
{
	quota_give(&cs->quota, c->program->program.user, c->retired ? FORMER_COST : COUNTER_COST);
	if (c->fixed)
		kernel_put(c->kernel);
	free(c);
}

void counter_leave_address(struct counters *cs, struct counter *c)
{
	struct counter_address *a = c->address;

	LIST_REMOVE(c, in_address);
	c->address = NULL;
	if (!LIST_EMPTY(&a->counters))
		return;
	HASH_DEL(cs->addresses, a);
	free(a);
}

static void free_all(struct counters *cs)
{
	struct counter *c;

	while ((c = cs->all)) {
		HASH_DEL(cs->all, c);
		if (c->address)
			counter_leave_address(cs, c);
		counter_free(cs, c);
	}
}

void counters_free(struct counters *cs)
{
	free_all(cs);
	quota_free(&cs->quota);
	bpf_munmap_elements(cs->array, cs->quick);
}

struct counter *counter_find(const struct counters *cs, const struct launch_key *key)
{
	struct counter *c;

	HASH_FIND(hh, cs->all, key, sizeof(*key), c);
	return c;
}

struct counter_address *counters_at(const struct counters *cs, unsigned long long program,
				    unsigned long long func)
{
	struct counter_address *a, want = { .key = { program, func } };

	HASH_FIND(hh, cs->addresses, &want.key, sizeof(want.key), a);
	return a;
}

static void take_address(struct counters *cs, struct counter *c)
{
	struct counter_address *a = counters_at(cs, c->key.program, c->key.func);

	if (!a) {
		a = xcalloc(1, sizeof(*a));
		a->key.program = c->key.program;
		a->key.func = c->key.func;
		a->newest = c->key.generation;
		HASH_ADD(hh, cs->addresses, key, sizeof(a->key), a);
	}
	LIST_INSERT_HEAD(&a->counters, c, in_address);
	c->address = a;
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
	LIST_INSERT_HEAD(&program->counters, c, in_program);
	program->ncounters++;
	HASH_ADD(hh, cs->all, key, sizeof(*key), c);
	cs->made++;
	take_address(cs, c);
	return c;
}

void counters_each_key(const struct counters *cs,
		       void (*fn)(void *ctx, const struct launch_key *key), void *ctx)
{
	struct launch_key key, next;
	bool more = !bmap_next(cs->map, NULL, &next);

	while (more) {
		key = next;
		more = !bmap_next(cs->map, &key, &next);
		fn(ctx, &key);
	}
}

/* The shape is that of the last launch. */
static void add(struct launch_count *sum, const struct launch_count *one)
{
	sum->launches += one->launches;
	sum->failed += one->failed;
	sum->impossible += one->impossible;
	sum->paired |= one->paired;
	sum->driver |= one->driver;
	sum->unreported |= one->unreported;
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

bool counters_read(const struct counters *cs, const struct launch_key *key, struct launch_count *sum)
{
	struct launch_count rest;

	*sum = read_quick(cs, key);
	if (bmap_lookup(cs->map, key, &rest))
		return false;
	add(sum, &rest);
	return true;
}

void counter_pull(struct counters *cs, struct counter *c)
{
	struct launch_tally new;
	struct launch_count sum;

	if (!counters_read(cs, &c->key, &sum))
		return;
	new.launches = sum.launches - c->seen.launches;
	new.failed = sum.failed - c->seen.failed;
	new.impossible = sum.impossible - c->seen.impossible;
	c->seen = sum;
	tally_add(&c->pending, &new);
	tally_add(&c->total, &new);
	cs->total += new.launches;
	cs->impossible += new.impossible;
}

void counters_remove_key(struct counters *cs, const struct launch_key *key, unsigned int share)
{
	size_t each = cs->nquick / cs->cpus, at = launch_place(key) % each;

	if (!bmap_delete(cs->map, key))
		shares_give_back(cs->shares, share - 1);
	for (; at < cs->nquick; at += each) {
		if (!slot_is_taken(&cs->quick[at].slot) || memcmp(&cs->quick[at].key, key, sizeof(*key)))
			continue;
		memset(&cs->quick[at].count, 0, sizeof(cs->quick[at].count));
		slot_give_back(&cs->quick[at].slot);
	}
}

const struct kernel *counter_kernel(const struct counter *c)
{
	if (c->fixed || c->key.kind == LAUNCH_GRAPH)
		return c->kernel;
	return kernels_find(c->program->program.kernels, c->key.func);
}

unsigned long long counter_func(const struct counter *c)
{
	return c->fixed ? c->shown : c->key.kind == LAUNCH_GRAPH ? c->key.func :
	       kernels_handle(c->program->program.kernels, c->key.func);
}
