/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "abi/device.h"
#include "base/clock.h"
#include "cli/opt.h"
#include "cli/value.h"
#include "cudaexporter/held.h"

static const unsigned long long NS_PER_S = 1000000000, AGED_NS = 15 * 1000000000ull;

void held_parse_ages(struct held *h, const char *list)
{
	char *copy = xstrdup(list), *rest = copy, *word;
	int n = 0;
	long ns;

	while ((word = value_word(&rest))) {
		if (!value_time(word, VALUE_S, &ns) || ns < VALUE_S || ns % VALUE_S)
			usage_error("--ages: '%s' is not a number of seconds", word);
		if (n && ns / VALUE_S <= h->ages[n - 1])
			usage_error("--ages: '%s' is not larger than the one before", word);
		if (n == HELD_AGES - 1)
			usage_error("--ages: more than %d", HELD_AGES - 1);
		h->ages[n++] = ns / VALUE_S;
	}
	h->ages[n] = 0;
	free(copy);
}

static struct mem_process *process_of(const struct held *h, int pid)
{
	struct mem_process *p;

	HASH_FIND_INT(h->memory.processes, &pid, p);
	return p;
}

/* What a group held before a reset. */
struct before {
	struct metric_labels labels;
	unsigned long long bytes, count;
};

static unsigned groups_of(const struct held *h, int pid, struct before **list)
{
	const struct mem_process *p = process_of(h, pid);
	unsigned n = 0;

	*list = p ? xcalloc(HASH_COUNT(p->groups.all) + 1, sizeof(**list)) : NULL;
	for (const struct mem_group *g = p ? p->groups.all : NULL; g; g = g->hh.next)
		(*list)[n++] = (struct before){ { g->key.device, g->key.memory }, g->held.bytes, g->held.count };
	return n;
}

static void count(struct held *h, struct owner *owner, enum metric bytes, enum metric number,
		  struct metric_labels labels, unsigned long long size, unsigned long long n)
{
	series_count(h->table, owner, bytes, labels, size);
	series_count(h->table, owner, number, labels, n);
}

/* A reset frees whatever was on the device. */
static void count_reset(struct held *h, struct owner *owner, int pid, const struct before *before, unsigned n)
{
	struct before *after;
	unsigned left = groups_of(h, pid, &after), k;

	for (unsigned i = 0; i < n; i++) {
		for (k = 0; k < left; k++)
			if (after[k].labels.a == before[i].labels.a && after[k].labels.b == before[i].labels.b)
				break;
		if (before[i].count > (k < left ? after[k].count : 0))
			count(h, owner, METRIC_FREED_BYTES, METRIC_FREES, before[i].labels,
			      before[i].bytes - (k < left ? after[k].bytes : 0),
			      before[i].count - (k < left ? after[k].count : 0));
	}
	free(after);
}

static void count_effect(struct held *h, struct owner *owner, const struct memory_effect *did,
			 enum cuda_class class)
{
	const struct metric_labels labels = { did->device, did->memory };
	const struct metric_labels replaced = { did->replaced.device, did->replaced.memory };
	unsigned long long size = did->size == ~0ull ? 0 : did->size;

	if (did->replaced.memory != CUDA_MEM_NONE)
		count(h, owner, METRIC_FREED_BYTES, METRIC_FREES, replaced,
		      did->replaced.size == ~0ull ? 0 : did->replaced.size, 1);
	if (class == CUDA_ALLOC)
		count(h, owner, METRIC_ALLOCATED_BYTES, METRIC_ALLOCATIONS, labels, size, 1);
	else if (class == CUDA_FREE && did->memory != CUDA_MEM_NONE)
		count(h, owner, METRIC_FREED_BYTES, METRIC_FREES, labels, size, 1);
}

void held_record(struct held *h, const struct memory_event *e)
{
	struct client *client = clients_find(h->clients, e->head.pid) ?: clients_mapped(h->clients, e->head.pid);
	enum cuda_class class = cuda_fns[e->head.kind].class;
	struct mem_process *p = process_of(h, e->head.pid);
	unsigned long long unknown = p ? p->unknown : 0;
	struct before *before = NULL;
	struct memory_effect did;
	unsigned n = 0;

	if (class == CUDA_RESET)
		n = groups_of(h, e->head.pid, &before);
	did = memory_apply(&h->memory, e, NULL);
	if (class == CUDA_RESET)
		count_reset(h, client->owner, e->head.pid, before, n);
	else
		count_effect(h, client->owner, &did, class);
	if (did.process && did.process->unknown > unknown)
		series_count(h->table, client->owner, METRIC_UNKNOWN_FREES, (struct metric_labels){ 0 },
			     did.process->unknown - unknown);
	free(before);
}

static void collect_groups(struct held *h, struct owner *owner, const struct mem_process *p)
{
	for (const struct mem_group *g = p->groups.all; g; g = g->hh.next) {
		const struct metric_labels labels = { g->key.device, g->key.memory };

		series_add(h->table, owner, METRIC_HELD_BYTES, labels, g->held.bytes);
		series_add(h->table, owner, METRIC_HELD_COUNT, labels, g->held.count);
		series_add(h->table, owner, METRIC_HELD_PEAK, labels, g->held.peak);
	}
}

/* The last element: memory of the host. */
enum { PLACES = DEVICES + 2 };

static unsigned place_of(unsigned device)
{
	return device == DEVICE_NONE ? PLACES - 1 : device <= DEVICES ? device : 0;
}

static void collect_ages(struct held *h, struct owner *owner, const struct mem_process *p)
{
	unsigned long long bytes[HELD_AGES][PLACES] = { 0 };
	bool used[PLACES] = { false };

	for (const struct allocation *a = p->allocations; a; a = a->hh.next) {
		unsigned place = place_of(a->group->key.device);

		used[place] = true;
		for (int i = 0; h->ages[i] && h->aged - a->time > h->ages[i] * NS_PER_S && h->aged > a->time; i++)
			bytes[i][place] += a->size;
	}
	for (unsigned place = 0; place < PLACES; place++)
		for (int i = 0; used[place] && h->ages[i]; i++)
			series_add(h->table, owner, METRIC_HELD_OLDER,
				   (struct metric_labels){ place == PLACES - 1 ? DEVICE_NONE : place, h->ages[i] },
				   bytes[i][place]);
}

void held_collect(struct held *h)
{
	unsigned long long now = clock_ns(), every = AGED_NS;
	bool ages;

	if (h->ages[0] * NS_PER_S < every)
		every = h->ages[0] * NS_PER_S;
	ages = !h->aged || now - h->aged >= every;
	if (ages)
		h->aged = now;
	else
		series_keep(h->table, METRIC_HELD_OLDER);
	for (const struct mem_process *p = h->memory.processes; p; p = p->hh.next) {
		struct client *client = clients_find(h->clients, p->pid);

		if (!client)
			continue;
		collect_groups(h, client->owner, p);
		if (ages)
			collect_ages(h, client->owner, p);
	}
}

/* The driver counts memory of another process as that one's. */
unsigned long long held_on_device(const struct held *h, int pid, unsigned device)
{
	const struct mem_process *p = process_of(h, pid);
	unsigned long long bytes = 0;

	for (const struct mem_group *g = p ? p->groups.all : NULL; g; g = g->hh.next)
		if (g->key.device == device && g->key.memory != CUDA_IPC && g->key.memory != CUDA_HOST)
			bytes += g->held.bytes;
	return bytes;
}

void held_forget(struct held *h, int pid)
{
	memory_forget(process_of(h, pid));
}
