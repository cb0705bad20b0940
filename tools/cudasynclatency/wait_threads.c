/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "abi/aggregate.h"
#include "base/clock.h"
#include "base/die.h"
#include "cudasynclatency/wait_threads.h"
#include "model/aggregate.h"
#include "bpf/bpf_mmap.h"

void wait_threads_init(struct wait_threads *threads, struct bpf_map *slots, struct bpf_map *rest,
		       unsigned long long *used, struct shares *shares)
{
	*threads = (struct wait_threads){
		.slots = slots, .rest = rest, .used = used, .shares = shares,
		.since = clock_ns(),
	};
}

static void take_thread(void *ctx, const void *key, const void *value)
{
	struct wait_threads *threads = ctx;
	const struct wait_thread_key *k = key;
	const struct wait_thread *t = value;

	threads->rows = xrealloc(threads->rows, threads->n + 1, sizeof(*threads->rows));
	threads->rows[threads->n++] = (struct wait_thread_row){
		.count = t->count, .total = t->ns, .pid = k->pid, .tid = k->tid,
		.comm = xprintf("%.*s", (int)sizeof(t->comm), t->comm),
	};
}

/* Collects those in the array; the others are in the map. */
void wait_threads_collect(struct wait_threads *threads, unsigned int epoch)
{
	struct wait_slot *slots;

	if (!threads->elements)
		threads->elements = bpf_mmap_elements(threads->slots);
	if (!threads->elements)
		die(errno, "cannot map %s", bpf_map__name(threads->slots));
	slots = threads->elements + (epoch & 1) * WAIT_SLOTS;
	for (int i = 0; i < WAIT_SLOTS && slot_is_taken(&slots[i].slot); i++) {
		if (slots[i].thread.count)
			take_thread(threads, &slots[i].key, &slots[i].thread);
		memset(&slots[i].key, 0, sizeof(slots[i].key));
		memset(&slots[i].thread, 0, sizeof(slots[i].thread));
		slot_give_back(&slots[i].slot);
	}
	threads->used[epoch & 1] = 0;
	aggregate_drain(threads->rest, epoch, take_thread, threads);
	shares_clear(&threads->shares[epoch & 1]);
}

static int longest_first(const void *a, const void *b)
{
	const struct wait_thread_row *p = a, *q = b;

	return p->total == q->total ? p->tid - q->tid : p->total < q->total ? 1 : -1;
}

unsigned long long wait_threads_finish(struct wait_threads *threads, unsigned long long now)
{
	unsigned long long interval = now - threads->since;

	if (threads->n)
		qsort(threads->rows, threads->n, sizeof(*threads->rows), longest_first);
	for (size_t i = 0; i < threads->n; i++) {
		threads->rows[i].time = now;
		threads->rows[i].share = threads->rows[i].total / (double)interval;
	}
	threads->since = now;
	return interval;
}

void wait_threads_clear(struct wait_threads *threads)
{
	while (threads->n)
		free(threads->rows[--threads->n].comm);
	free(threads->rows);
	threads->rows = NULL;
}
