/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "abi/cudaexporter.h"
#include "abi/device.h"
#include "base/clock.h"
#include "cli/opt.h"
#include "cli/value.h"
#include "cudaexporter/memory_metrics.h"

/* The memory of one kind on one device that a process holds. */
struct memory_group {
	struct metric_labels labels;
	unsigned long long bytes, count;
};

static const unsigned long long NS_PER_S = 1000000000, AGED_NS = 15 * 1000000000ull;

void memory_metrics_parse_ages(struct memory_metrics *h, const char *list)
{
	char *copy = xstrdup(list), *rest = copy, *word;
	int n = 0;
	long ns;

	while ((word = value_word(&rest))) {
		if (!value_time(word, VALUE_S, &ns) || ns < VALUE_S || ns % VALUE_S)
			usage_error("--ages: '%s' is not a number of seconds", word);
		if (n && ns / VALUE_S <= h->ages[n - 1])
			usage_error("--ages: '%s' is not larger than the one before", word);
		if (n == MEMORY_AGES - 1)
			usage_error("--ages: more than %d", MEMORY_AGES - 1);
		h->ages[n++] = ns / VALUE_S;
	}
	h->ages[n] = 0;
	free(copy);
}

void memory_metrics_init(struct memory_metrics *h, struct processes *processes,
			 struct process_table *table)
{
	h->model = (struct memory)MEMORY_INIT;
	h->model.table = table;
	h->processes = processes;
}

static struct mem_process *memory_metrics_process_of(const struct memory_metrics *h, int pid)
{
	struct mem_process *p;

	HASH_FIND_INT(h->model.processes, &pid, p);
	return p;
}

static void groups_of(const struct mem_process *p, struct memory_groups *to)
{
	to->n = 0;
	for (const struct mem_site *g = p ? p->groups.all : NULL; g; g = g->hh.next) {
		ALLOC_GROW(to->list, to->n, to->room);
		to->list[to->n++] = (struct memory_group){
			metric_labels(g->key.device, g->key.memory), g->held.bytes, g->held.count,
		};
	}
}

/* Returns the group with these labels; zeroes if it does not exist. */
static struct memory_group group_in(const struct memory_groups *groups, struct metric_labels labels)
{
	for (unsigned i = 0; i < groups->n; i++)
		if (groups->list[i].labels.a == labels.a && groups->list[i].labels.b == labels.b)
			return groups->list[i];
	return (struct memory_group){ .labels = labels };
}

static void memory_metrics_count(struct label_set *set, enum metric bytes, enum metric number, const struct memory_group *g)
{
	series_count(set, bytes, g->labels, g->bytes);
	series_count(set, number, g->labels, g->count);
}

/* Counts as freed what a group held before or got by this call and does not hold after it. */
static void count_freed(struct memory_metrics *h, struct label_set *set, const struct memory_group *before,
			const struct memory_group *made)
{
	struct memory_group after = group_in(&h->after, before->labels), freed = *before;

	freed.bytes += made->bytes;
	freed.count += made->count;
	if (freed.count <= after.count)
		return;
	freed.count -= after.count;
	freed.bytes -= freed.bytes < after.bytes ? freed.bytes : after.bytes;
	memory_metrics_count(set, METRIC_FREED_BYTES, METRIC_FREES, &freed);
}

/* Bounds a program's value: a sum may be of several users' processes. */
static unsigned long long memory_metrics_bytes_of(unsigned long long size)
{
	return size == ~0ull ? 0 : size < EXPORT_BYTES_MAX ? size : EXPORT_BYTES_MAX;
}

/* Sets made to what the call allocated; no count for another reference to an existing allocation. */
static void find_made(struct memory_metrics *h, const struct memory_event *e, const struct memory_effect *did,
		      struct memory_group *made)
{
	const struct cuda_fn *fn = &cuda_fns[e->head.kind];
	const struct allocation *a = NULL;

	*made = (struct memory_group){ .labels = metric_labels(did->device, did->memory) };
	if (fn->class != CUDA_ALLOC || !e->ptr)
		return;
	if (did->process)
		a = allocation_find(did->process, e->ptr, space_of(fn->args.memory));
	if (a && a->time != e->time)
		return;
	made->bytes = memory_metrics_bytes_of(a ? a->size : did->size);
	made->count = 1;
	h->ignored += !a;
}

void memory_metrics_record(struct memory_metrics *h, const struct memory_event *e)
{
	struct cuda_process *process = processes_find(h->processes, e->head.pid) ?: processes_mapped(h->processes, e->head.pid);
	struct mem_process *p = memory_metrics_process_of(h, e->head.pid);
	unsigned long long unknown = p ? p->unknown : 0, ignored = h->ignored;
	struct memory_effect did;
	struct memory_group made, none = { 0 };
	bool seen = false;

	groups_of(p, &h->before);
	did = memory_apply(&h->model, e, NULL);
	groups_of(did.process, &h->after);
	find_made(h, e, &did, &made);
	if (made.count)
		memory_metrics_count(process->set, METRIC_ALLOCATED_BYTES, METRIC_ALLOCATIONS, &made);
	if (h->ignored > ignored)
		made = none;
	for (unsigned i = 0; i < h->before.n; i++) {
		const struct memory_group *g = &h->before.list[i];
		bool is = made.count && g->labels.a == made.labels.a && g->labels.b == made.labels.b;

		seen |= is;
		count_freed(h, process->set, g, is ? &made : &none);
	}
	if (made.count && !seen)
		count_freed(h, process->set, &(struct memory_group){ .labels = made.labels }, &made);
	if (did.process && did.process->unknown > unknown)
		series_count(process->set, METRIC_UNKNOWN_FREES, (struct metric_labels){ 0 },
			     did.process->unknown - unknown);
}

static void collect_groups(struct label_set *set, const struct mem_process *p)
{
	for (const struct mem_site *g = p->groups.all; g; g = g->hh.next) {
		const struct metric_labels labels = metric_labels(g->key.device, g->key.memory);

		series_add(set, METRIC_HELD_BYTES, labels, g->held.bytes);
		series_add(set, METRIC_HELD_COUNT, labels, g->held.count);
		series_add(set, METRIC_HELD_PEAK, labels, g->held.peak);
	}
}

/* The last element is for host memory. */
enum { PLACES = DEVICES + 2 };

static unsigned place_of(unsigned device)
{
	return device == DEVICE_NONE ? PLACES - 1 : device <= DEVICES ? device : 0;
}

static void collect_ages(struct memory_metrics *h, struct label_set *set, const struct mem_process *p)
{
	unsigned long long bytes[MEMORY_AGES][PLACES] = { 0 };
	bool used[PLACES] = { false };

	for (const struct allocation *a = p->allocations; a; a = a->hh.next) {
		unsigned place = place_of(a->group->key.device);

		used[place] = true;
		for (int i = 0; h->ages[i] && h->aged - a->time > h->ages[i] * NS_PER_S && h->aged > a->time; i++)
			bytes[i][place] += a->size;
	}
	for (unsigned place = 0; place < PLACES; place++)
		for (int i = 0; used[place] && h->ages[i]; i++)
			series_add(set, METRIC_HELD_OLDER,
				   metric_labels(place == PLACES - 1 ? DEVICE_NONE : place, h->ages[i]),
				   bytes[i][place]);
}

void memory_metrics_collect(struct memory_metrics *h)
{
	unsigned long long now = clock_ns(), every = AGED_NS;
	bool ages;

	if (h->ages[0] * NS_PER_S < every)
		every = h->ages[0] * NS_PER_S;
	ages = !h->aged || now - h->aged >= every;
	if (ages)
		h->aged = now;
	else
		series_keep(h->processes->sets.table, METRIC_HELD_OLDER);
	for (const struct mem_process *p = h->model.processes; p; p = p->hh.next) {
		struct cuda_process *process = processes_find(h->processes, p->pid);

		if (!process)
			continue;
		collect_groups(process->set, p);
		if (ages)
			collect_ages(h, process->set, p);
	}
}

/* Without IPC memory, which the driver counts for the process that allocated it. */
unsigned long long memory_metrics_on_device(const struct memory_metrics *h, int pid, unsigned device)
{
	const struct mem_process *p = memory_metrics_process_of(h, pid);
	unsigned long long bytes = 0;

	for (const struct mem_site *g = p ? p->groups.all : NULL; g; g = g->hh.next)
		if (g->key.device == device && g->key.memory != CUDA_IPC && g->key.memory != CUDA_HOST)
			bytes += g->held.bytes;
	return bytes;
}

void memory_metrics_forget(struct memory_metrics *h, int pid)
{
	memory_forget(memory_metrics_process_of(h, pid));
}

void memory_metrics_free(struct memory_metrics *h)
{
	memory_free(&h->model);
	free(h->before.list);
	free(h->after.list);
}
