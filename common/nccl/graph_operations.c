/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "api/cuda_fn.h"
#include "api/nccl.h"
#include "base/die.h"
#include "base/log2_hist.h"
#include "base/quota.h"
#include "base/util.h"
#include "model/graphs.h"
#include "nccl/graph_operations.h"

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

unsigned long long graph_operation_bytes(const struct graph_work *w)
{
	const bool counts = cuda_fns[w->operation.id].args.count;
	unsigned size = counts ? nccl_type_size(w->operation.type) : 0;
	unsigned long long bytes;

	return !size || __builtin_mul_overflow(w->bytes, size, &bytes) ? NO_VALUE : bytes;
}

/* Either may be NO_VALUE. */
static unsigned long long graph_operations_add(unsigned long long a, unsigned long long b)
{
	unsigned long long sum;

	if (a == NO_VALUE || b == NO_VALUE)
		return a == NO_VALUE ? b : a;
	return __builtin_add_overflow(a, b, &sum) ? NO_VALUE - 1 : sum;
}

static bool is_message(const struct graph_work *w)
{
	const struct cuda_args *args = &cuda_fns[w->operation.id].args;

	return args->peer || !args->count;	/* or a signal */
}

static int by_communicator(const void *a, const void *b)
{
	const struct graph_work *p = *(const struct graph_work *const *)a;
	const struct graph_work *q = *(const struct graph_work *const *)b;

	return ORDER(p->func, q->func) ?: ORDER(p->operation.number, q->operation.number);
}

static int compare_kind(const struct graph_work *p, const struct graph_work *q)
{
	return ORDER(p->func, q->func) ?: ORDER(p->operation.id, q->operation.id) ?:
	       ORDER(p->operation.type, q->operation.type) ?:
	       ORDER(p->operation.op, q->operation.op);
}

/* Of a kind by size. */
static int by_kind(const void *a, const void *b)
{
	const struct graph_work *p = *(const struct graph_work *const *)a;
	const struct graph_work *q = *(const struct graph_work *const *)b;

	return compare_kind(p, q) ?: ORDER(p->bytes, q->bytes) ?:
	       ORDER(p->operation.number, q->operation.number);
}

/* Of a graph: all of its operations, in both orders. */
struct list {
	const struct graph_work **by_kind, **by_communicator;
	size_t n, nkinds, nsizes, nparts, ntails;
};

static void *sorted(const struct graph_content *c, int (*order)(const void *a, const void *b))
{
	const struct graph_work **all = xcalloc(c->noperations, sizeof(*all));

	for (size_t i = 0; i < c->noperations; i++)
		all[i] = &c->all[c->n - c->noperations + i];
	qsort(all, c->noperations, sizeof(*all), order);
	return all;
}

static bool begins_kind(const struct list *l, size_t i)
{
	return !i || compare_kind(l->by_kind[i - 1], l->by_kind[i]);
}

static bool begins_size(const struct list *l, size_t i)
{
	unsigned long long bytes = graph_operation_bytes(l->by_kind[i]);

	if (bytes == NO_VALUE)
		return false;
	return begins_kind(l, i) ||
	       hist_row_of(graph_operation_bytes(l->by_kind[i - 1])) != hist_row_of(bytes);
}

static bool begins_part(const struct list *l, size_t i)
{
	return !i || l->by_communicator[i - 1]->func != l->by_communicator[i]->func;
}

/* Counts what there is to be; returns false if that is too much. */
static bool count(struct list *l)
{
	size_t tail = 0;

	for (size_t i = 0; i < l->n; i++) {
		l->nkinds += begins_kind(l, i);
		l->nsizes += begins_size(l, i);
		l->nparts += begins_part(l, i);
		tail = begins_part(l, i) ? 0 : tail;
		tail += !is_message(l->by_communicator[i]);
		l->ntails += tail && tail <= GRAPH_TAIL && !is_message(l->by_communicator[i]);
	}
	return l->nkinds <= GRAPH_KINDS_MAX && l->nsizes <= GRAPH_SIZES_MAX;
}

static void add_to_kind(struct graph_kind *k, const struct graph_work *w, unsigned long long least)
{
	unsigned long long bytes = graph_operation_bytes(w);
	const struct graph_work *any = k->last ?: w;

	k->same_count = k->n ? k->same_count && any->bytes == w->bytes : true;
	k->same_other = k->n ? k->same_other && any->operation.other == w->operation.other : true;
	if (any == w || w->operation.number > any->operation.number)
		k->last = w;
	k->n++;
	k->bytes = graph_operations_add(k->bytes, bytes);
	if (least && (bytes == NO_VALUE || bytes < least))
		return;
	k->large++;
	k->large_bytes = graph_operations_add(k->large_bytes, bytes);
}

static void sum_kinds(struct graph_operations *o, const struct list *l, unsigned long long least)
{
	struct graph_kind *kind = o->kinds - 1;
	struct graph_size *size = o->sizes - 1;

	for (size_t i = 0; i < l->n; i++) {
		if (begins_kind(l, i)) {
			*++kind = (struct graph_kind){
				.sizes = size + 1, .bytes = NO_VALUE, .large_bytes = NO_VALUE,
				.message = is_message(l->by_kind[i]),
			};
		}
		if (begins_size(l, i)) {
			(++size)->row = hist_row_of(graph_operation_bytes(l->by_kind[i]));
			kind->nsizes++;
		}
		if (graph_operation_bytes(l->by_kind[i]) != NO_VALUE)
			size->n++;
		add_to_kind(kind, l->by_kind[i], least);
	}
}

/* Sets the last collectives of a part, whose operations are those from first to before end. */
static void set_tail(struct graph_part *part, const struct graph_work **tail, const struct list *l,
		     size_t end)
{
	const size_t most = part->collectives < GRAPH_TAIL ? part->collectives : GRAPH_TAIL;

	part->tail = tail;
	part->ntail = most;
	for (size_t left = most; left; end--)
		if (!is_message(l->by_communicator[end - 1]))
			tail[--left] = l->by_communicator[end - 1];
}

static void sum_parts(struct graph_operations *o, const struct list *l)
{
	struct graph_kind *kind = o->kinds;
	const struct graph_work **tail = o->tails;

	for (size_t i = 0; i < l->n;) {
		struct graph_part *part = &o->parts[o->nparts++];

		do {
			const struct graph_work *w = l->by_communicator[i++];

			part->last = w;
			part->last_message = is_message(w) ? w : part->last_message;
			part->messages += is_message(w);
			part->collectives += !is_message(w);
		} while (i < l->n && !begins_part(l, i));
		set_tail(part, tail, l, i);
		tail += part->ntail;
		part->kinds = kind;
		while (kind < o->kinds + l->nkinds && kind->last->func == part->last->func)
			kind++;
		part->nkinds = kind - part->kinds;
	}
}

static void free_operations(struct graph_operations *o)
{
	free(o->parts);
	free(o->kinds);
	free(o->sizes);
	free(o->tails);
	free(o);
}

static struct graph_operations *sum_up(struct graph_content *c, const struct list *l,
				       unsigned long long least)
{
	const size_t cost = sizeof(struct graph_operations) +
			    l->nparts * sizeof(struct graph_part) +
			    l->nkinds * sizeof(struct graph_kind) +
			    l->nsizes * sizeof(struct graph_size) +
			    l->ntails * sizeof(struct graph_work *);
	struct graph_operations *o;

	if (!quota_take(c->quota, c->user, c->pid, cost))
		return NULL;
	o = xcalloc(1, sizeof(*o));
	c->operations_cost = cost;
	c->free_operations = free_operations;
	o->nkinds = l->nkinds;
	o->parts = xcalloc(l->nparts + 1, sizeof(*o->parts));
	o->kinds = xcalloc(l->nkinds + 1, sizeof(*o->kinds));
	o->sizes = xcalloc(l->nsizes + 1, sizeof(*o->sizes));
	o->tails = xcalloc(l->ntails + 1, sizeof(*o->tails));
	sum_kinds(o, l, least);
	sum_parts(o, l);
	return o;
}

const struct graph_operations *graph_operations_of(struct graph_content *c,
						   unsigned long long least)
{
	struct list l = { .n = c->noperations };

	if (c->operations || c->unsummed || !c->noperations)
		return c->operations;
	l.by_kind = sorted(c, by_kind);
	l.by_communicator = sorted(c, by_communicator);
	c->operations = count(&l) ? sum_up(c, &l, least) : NULL;
	c->unsummed = !c->operations;
	free(l.by_kind);
	free(l.by_communicator);
	return c->operations;
}
