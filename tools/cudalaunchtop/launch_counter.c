/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "probe/bpf_mmap.h"
#include "sym/kernels.h"
#include "cudalaunchtop/launch_counter.h"

static int map, cpus;
static struct launch_count *values;	/* of each processor */
static struct launch_slot *quick;
static size_t nquick;
static unsigned long long total;
struct counter *counters, *former_counters;

void counters_init(const struct bpf_map *counts, const struct bpf_map *array)
{
	map = bpf_map__fd(counts);
	cpus = libbpf_num_possible_cpus();
	if (cpus < 1)
		die(cpus, "cannot tell how many processors there are");
	values = xcalloc(cpus, sizeof(*values));
	quick = bpf_mmap_elements(array);
	nquick = bpf_map__max_entries(array);
}

struct counter *counter_find(const struct launch_key *key)
{
	struct counter *c;

	HASH_FIND(hh, counters, key, sizeof(*key), c);
	return c;
}

struct counter *counter_new(const struct launch_key *key, struct program *program)
{
	struct counter *c = xcalloc(1, sizeof(*c));

	c->key = *key;
	c->program = program;
	HASH_ADD(hh, counters, key, sizeof(*key), c);
	return c;
}

void counters_each_key(void (*fn)(const struct launch_key *key))
{
	struct launch_key key, *last = NULL;

	while (!bpf_map_get_next_key(map, last, &key)) {
		fn(&key);
		last = &key;
	}
}

/* The shape is of the last launch. */
static void add(struct launch_count *sum, const struct launch_count *one)
{
	sum->launches += one->launches;
	sum->failed += one->failed;
	sum->paired |= one->paired;
	sum->driver |= one->driver;
	if (one->time <= sum->time)
		return;
	sum->time = one->time;
	memcpy(sum->grid, one->grid, sizeof(sum->grid));
	memcpy(sum->block, one->block, sizeof(sum->block));
}

void counters_read(void)
{
	struct counter *c;

	for (c = counters; c; c = c->hh.next)
		memset(&c->quick, 0, sizeof(c->quick));
	for (size_t i = 0; i < nquick; i++) {
		c = slot_is_taken(&quick[i].slot) ? counter_find(&quick[i].key) : NULL;
		if (c)
			add(&c->quick, &quick[i].count);
	}
}

void counter_pull(struct counter *c)
{
	struct launch_count sum = c->quick;
	unsigned long long launches, failed;

	if (bpf_map_lookup_elem(map, &c->key, values))
		return;
	for (int i = 0; i < cpus; i++)
		add(&sum, &values[i]);
	launches = sum.launches - c->seen.launches;
	failed = sum.failed - c->seen.failed;
	c->seen = sum;
	c->pending += launches;
	c->pending_failed += failed;
	c->total += launches;
	c->total_failed += failed;
	total += launches;
}

unsigned long long counters_total(void)
{
	return total;
}

static bool is_over(const struct counter *c)
{
	return c && c->program->ended && !c->program->counted;
}

void counters_free_ended(void)
{
	struct counter *c;

	for (size_t i = 0; i < nquick; i++) {
		if (!slot_is_taken(&quick[i].slot) || !is_over(counter_find(&quick[i].key)))
			continue;
		memset(&quick[i].count, 0, sizeof(quick[i].count));
		slot_give_back(&quick[i].slot);
	}
	for (c = counters; c; c = c->hh.next)
		if (is_over(c))
			bpf_map_delete_elem(map, &c->key);
}

const struct kernel *counter_kernel(const struct counter *c)
{
	if (c->kernel || c->key.kind == LAUNCH_GRAPH)
		return c->kernel;
	return kernels_find(c->program->kernels, c->key.func);
}

unsigned long long counter_func(const struct counter *c)
{
	return c->key.kind == LAUNCH_GRAPH ? c->key.func :
	       kernels_handle(c->program->kernels, c->key.func);
}
