/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include "base/clock.h"
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
		.map = counts, .lanes = bmaps_lanes(),
		.array = quick, .nquick = bpf_map__max_entries(quick),
	};
	TAILQ_INIT(&cs->retiring);
	cs->quick = bpf_mmap_elements(quick);
	if (!cs->quick)
		die(errno, "cannot map %s", bpf_map__name(quick));
}

static void counter_free(struct counters *cs, struct counter *c)
{
	quota_give(&cs->quota, c->program->program.user, c->retired ? FORMER_COST : COUNTER_COST);
	if (c->fixed)
		kernel_put(c->kernel);
	graph_content_put(c->graph.content);
	free(c);
}

/* Takes a counter off its address, and frees one that is in none of the lists of
 * counters any more. */
static void counter_leave_address(struct counters *cs, struct counter *c)
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

/* The counters at an address, or NULL. */
static struct counter_address *counters_at(const struct counters *cs, unsigned long long program,
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
			    struct launch_execution *program)
{
	const struct execution *p = &program->program;
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
static void launch_counter_add(struct launch_count *sum, const struct launch_count *one)
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
	size_t each = cs->nquick / cs->lanes, at = launch_place(key) % each;
	struct launch_count sum = { 0 };

	for (; at < cs->nquick; at += each)
		if (slot_is_taken(&cs->quick[at].slot) && !memcmp(&cs->quick[at].key, key, sizeof(*key)))
			launch_counter_add(&sum, &cs->quick[at].count);
	return sum;
}

bool counters_read(const struct counters *cs, const struct launch_key *key, struct launch_count *sum)
{
	struct launch_count rest;

	*sum = read_quick(cs, key);
	if (bmap_lookup(cs->map, key, &rest))
		return false;
	launch_counter_add(sum, &rest);
	return true;
}

void counter_pull(struct counters *cs, struct counter *c)
{
	struct launch_tally new = { 0 };
	struct launch_count sum;

	if (!counters_read(cs, &c->key, &sum))
		return;
	new.launches = sum.launches - c->seen.launches;
	new.failed = sum.failed - c->seen.failed;
	new.impossible = sum.impossible - c->seen.impossible;
	c->seen = sum;
	tally_add(&c->pending, &new);
	tally_add(&c->total, &new);
	cs->total += new.launches * (c->graph.content ? c->graph.content->kernels ?: 1 : 1);
	cs->impossible += new.impossible;
}

void counters_remove_key(struct counters *cs, const struct launch_key *key, unsigned int share)
{
	size_t each = cs->nquick / cs->lanes, at = launch_place(key) % each;

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
	return kernel_map_find(c->program->program.kernels, c->key.func);
}

unsigned long long counter_func(const struct counter *c)
{
	return c->fixed ? c->shown : c->key.kind == LAUNCH_GRAPH ? c->key.func :
	       kernel_map_handle(c->program->program.kernels, c->key.func);
}

/* Counters of ended launches: gives back their room in the probes' maps, and keeps the counts. */

/* A thread that was interrupted while it counted does so before that. */
static const unsigned long long LEAVING_NS = 100 * 1000000ull;

/* How long the loop may be busy with it, and how many retired counters of running programs stay though
 * nothing was launched. */
static const unsigned long long SLICE_NS = 5 * 1000000ull;
enum { BATCH = 64, IDLE_FORMER = 4096 };

void counter_leave(struct counters *cs, struct counter *c)
{
	bool over = c->program->over;

	if (c->address) {
		c->kernel = kernel_get(counter_kernel(c));
		c->shown = counter_func(c);
		c->fixed = true;
		counter_leave_address(cs, c);
	} else if (over) {
		TAILQ_REMOVE(&cs->retiring, c, in_retiring);
	} else {
		return;
	}
	c->due = over ? 0 : clock_ns() + LEAVING_NS;
	if (over)
		TAILQ_INSERT_HEAD(&cs->retiring, c, in_retiring);
	else
		TAILQ_INSERT_TAIL(&cs->retiring, c, in_retiring);
}

void counters_leave_at(struct counters *cs, unsigned long long program, unsigned long long func,
		       const unsigned int *stays)
{
	struct counter_address *a = counters_at(cs, program, func);
	struct counter *c = a ? LIST_FIRST(&a->counters) : NULL, *next;

	for (; c; c = next) {
		next = LIST_NEXT(c, in_address);	/* the last one frees the list */
		if (!stays || c->key.generation != *stays)
			counter_leave(cs, c);
	}
}

/* A number wraps around, after 2^32 names in one place. */
static bool is_newer(unsigned a, unsigned b)
{
	return (int)(a - b) > 0;
}

void counter_begins(struct counters *cs, struct counter *c)
{
	struct counter_address *a = c->address;

	if (c->program->over || is_newer(a->newest, c->key.generation)) {
		counter_leave(cs, c);
	} else if (is_newer(c->key.generation, a->newest)) {
		a->newest = c->key.generation;
		counters_leave_at(cs, c->key.program, c->key.func, &c->key.generation);
	}
}

/* Former counters have the kernel in their keys, or the address to show, so that there is one for what
 * is one row. */
static struct launch_key retired_key(const struct counters *cs, const struct counter *c, const struct kernel *kernel,
				    unsigned long long func)
{
	const bool apart = cs->by_graph && c->graph.content;
	const void *same = kernel ?: apart ? NULL : (const void *)c->graph.content;

	return (struct launch_key){
		.program = c->key.program, .func = same ? (unsigned long)same : func,
		.stack = apart ? (unsigned long)c->graph.content : (unsigned long)c->stack, .pid = c->key.pid, .kind = c->key.kind,
		.generation = !!same, .device = c->key.device, .stream = c->key.stream,
	};
}

/* Returns the retired counter for what c has counted, a new one if need be; NULL if there are too many. */
static struct counter *retired_of(struct counters *cs, const struct counter *c,
				 const struct kernel *kernel, unsigned long long func)
{
	const struct launch_key key = retired_key(cs, c, kernel, func);
	const struct execution *p = &c->program->program;
	struct counter *was;

	HASH_FIND(hh, cs->retired, &key, sizeof(key), was);
	if (was || !quota_take(&cs->quota, p->user, p->pid, FORMER_COST))
		return was;
	was = xcalloc(1, sizeof(*was));
	was->key = key;
	was->program = c->program;
	was->stack = c->stack;
	was->kernel = kernel_get(kernel);
	was->graph = c->graph;
	was->graph.content = graph_content_get(c->graph.content);
	was->graph.known &= was->graph.content == c->graph.content;
	was->shown = func;
	was->fixed = was->retired = true;
	HASH_ADD(hh, cs->retired, key, sizeof(key), was);
	return was;
}

static void move(struct counter *to, struct counter *from)
{
	if (from->seen.time >= to->seen.time && !to->address) {
		to->seen.time = from->seen.time;
		memcpy(to->seen.grid, from->seen.grid, sizeof(to->seen.grid));
		memcpy(to->seen.block, from->seen.block, sizeof(to->seen.block));
	}
	tally_add(&to->pending, &from->pending);
	tally_add(&to->last, &from->last);
	tally_add(&to->total, &from->total);
	from->pending = from->last = from->total = (struct launch_tally){ 0 };
}

void counter_split(struct counters *cs, struct counter *c, const struct kernel *kernel)
{
	struct counter *was = retired_of(cs, c, kernel, counter_func(c));

	if (was)
		move(was, c);
}

/* Returns a counter of the same kernel at the same address: many leave because another address, of the
 * same hash, was named. */
static struct counter *successor_of(const struct counters *cs, const struct counter *c)
{
	struct counter_address *a = counters_at(cs, c->key.program, c->key.func);
	struct counter *s = a && (c->kernel || c->graph.content) ? LIST_FIRST(&a->counters) : NULL;

	while (s && (s->key.kind != c->key.kind || s->key.stack != c->key.stack ||
		     s->key.device != c->key.device || s->key.stream != c->key.stream ||
		     s->graph.content != c->graph.content || counter_kernel(s) != c->kernel))
		s = LIST_NEXT(s, in_address);
	return s;
}

static void launch_counter_give_back(struct counters *cs, struct counter *c)
{
	struct counter *to;

	counter_pull(cs, c);
	counters_remove_key(cs, &c->key, c->seen.share);
	TAILQ_REMOVE(&cs->retiring, c, in_retiring);
	LIST_REMOVE(c, in_program);
	if (!--c->program->ncounters && c->program->over)
		execution_forget_kernels(&c->program->program);
	HASH_DEL(cs->all, c);
	quota_give(&cs->quota, c->program->program.user, COUNTER_COST);
	to = c->total.launches ? successor_of(cs, c) ?: retired_of(cs, c, c->kernel, c->shown) : NULL;
	if (to)
		move(to, c);
	kernel_put(c->kernel);
	graph_content_put(c->graph.content);
	free(c);
}

void counters_give_back(struct counters *cs, bool all)
{
	unsigned long long now = clock_ns(), end = now + SLICE_NS;
	struct counter *c;

	for (int i = 0; (c = TAILQ_FIRST(&cs->retiring)) && c->due <= now; i++) {
		if (!(all && !c->due) && i % BATCH == 0 && clock_ns() > end)
			return;
		launch_counter_give_back(cs, c);
	}
}

void counters_drop_retired(struct counters *cs, bool all)
{
	bool many = HASH_COUNT(cs->retired) > IDLE_FORMER;
	struct counter *c, *next;

	HASH_ITER(hh, cs->retired, c, next) {
		if (!all && !c->program->counted && (!many || c->last.launches || c->pending.launches))
			continue;
		HASH_DEL(cs->retired, c);
		counter_free(cs, c);
	}
}
