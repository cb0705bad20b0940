/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "api/cuda_fn.h"
#include "base/die.h"
#include "inflight/inflight.h"
#include "nccl/communicators.h"
#include "ncclhang/hang.h"
#include "ncclhang/hang_report.h"
#include "ncclhang/judge.h"
#include "ncclhang/messages.h"

static unsigned long long judge_later(unsigned long long a, unsigned long long b)
{
	return a > b ? a : b;
}

static const struct comm_op *at_number(const struct hang_rank *r, unsigned long long number)
{
	if (r->report)		/* which has one operation */
		return r->last && !r->last->message && r->last->number == number ? r->last : NULL;
	return r->m ? communicator_collective(r->m, number) : NULL;
}

/* A call that has not returned is an operation, too. */
static bool take_call(const struct hang_rank *r, unsigned long long number, struct comm_op *op)
{
	if (!r->call || !r->call->nccl.is_nccl || !hang_is_collective(hang_func_of(r->call)) || r->number != number)
		return false;
	*op = (struct comm_op){
		.func = hang_func_of(r->call), .count = r->call->nccl.count, .type = r->call->nccl.type, .op = r->call->nccl.op,
		.other = r->call->nccl.other,
	};
	return true;
}

/* Finds rank r's call of that number; false if that is not known any more. */
static bool signature(const struct hang_rank *r, unsigned long long number, struct comm_op *op)
{
	const struct comm_op *known = at_number(r, number);

	if (known)
		*op = *known;
	return known || take_call(r, number, op);
}

/* As far as ranks must agree: ncclBcast is another name for a ncclBroadcast in place; an operator
 * that the program has made has another number in each rank. */
static struct comm_op agreed(const struct comm_op *op)
{
	enum { MADE = 5 };	/* nccl.h: ncclNumOps */

	int func = op->func == CUDA_ID_ncclBcast ? CUDA_ID_ncclBroadcast : op->func;
	const struct cuda_args *args = &cuda_fns[func].args;

	return (struct comm_op){
		.func = func, .count = op->count, .type = op->type,
		.other = args->root ? op->other : -1,
		.op = !args->redop ? 0 : op->op < MADE ? op->op : MADE,
	};
}

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Of what agreed() returns. */
static int compare(const struct comm_op *a, const struct comm_op *b)
{
	return ORDER(a->func, b->func) ?: ORDER(a->count, b->count) ?: ORDER(a->type, b->type) ?:
	       ORDER(a->other, b->other) ?: ORDER(a->op, b->op);
}

static bool is_same(const struct comm_op *a, const struct comm_op *b)
{
	const struct comm_op p = agreed(a), q = agreed(b);

	return !compare(&p, &q);
}

/* Return true if some ranks differ. */
static bool differ(const struct hang *h, unsigned long long number)
{
	struct comm_op first, op;
	bool some = false;

	for (size_t i = 0; i < h->n; i++) {
		if (!signature(&h->ranks[i], number, some ? &op : &first))
			continue;
		if (some && !is_same(&first, &op))
			return true;
		some = true;
	}
	return false;
}

struct called { struct comm_op op; size_t rank; };

static int by_op(const void *a, const void *b)
{
	const struct called *p = a, *q = b;

	return compare(&p->op, &q->op) ?: ORDER(p->rank, q->rank);
}

/* Returns what most ranks called by that number, of equals what the first rank called; *most is how
 * many did, *all how many called something. */
static struct called most_called(const struct hang *h, unsigned long long number, size_t *most,
				 size_t *all)
{
	struct called *list = xcalloc(h->n + 1, sizeof(*list)), best = { 0 };
	struct comm_op op;
	size_t n = 0;

	*most = 0;
	for (size_t i = 0; i < h->n; i++)
		if (signature(&h->ranks[i], number, &op))
			list[n++] = (struct called){ agreed(&op), i };
	qsort(list, n, sizeof(*list), by_op);
	for (size_t first = 0, end; first < n; first = end) {
		for (end = first + 1; end < n && !compare(&list[first].op, &list[end].op);)
			end++;
		if (end - first < *most || (end - first == *most && list[first].rank > best.rank))
			continue;
		*most = end - first;
		best = list[first];
	}
	free(list);
	*all = n;
	return best;
}

/* Marks the ranks that differ from most; all, if most call nothing alike. */
static void mark_others(struct hang *h, unsigned long long number)
{
	size_t most, all;
	const struct called best = most_called(h, number, &most, &all);
	struct comm_op op;

	for (size_t i = 0; most && i < h->n; i++) {
		bool has = signature(&h->ranks[i], number, &op);

		h->ranks[i].culprit = has && (2 * most <= all || !is_same(&best.op, &op));
		h->ranks[i].op = at_number(&h->ranks[i], number);
	}
	h->number = number;
	h->op = 2 * most > all ? at_number(&h->ranks[best.rank], number) : NULL;
}

static bool find_mismatch(struct hang *h, unsigned long long furthest)
{
	unsigned long long n = furthest > RECENT ? furthest - RECENT + 1 : 1;

	for (; n <= furthest; n++) {
		if (!differ(h, n))
			continue;
		mark_others(h, n);
		return true;
	}
	return false;
}

/* Another output has found that ranks differ.  Its rows may not have all that it was found by. */
static bool was_mismatch(const struct hang *h)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->ranks[i].report && h->ranks[i].report->mismatch)
			return true;
	return false;
}

static void keep_mismatch(struct hang *h)
{
	h->verdict = HANG_MISMATCH;
	for (size_t i = 0; i < h->n; i++) {
		const struct hang_report *report = h->ranks[i].report;

		h->ranks[i].culprit = report && report->mismatch && report->culprit;
		if (report && report->mismatch)
			h->number = report->about;
	}
}

static void name_operation(struct hang *h)
{
	for (size_t i = 0; i < h->n && !h->op && !h->number && h->verdict == HANG_PENDING; i++)
		h->op = h->ranks[i].message;
	for (size_t i = 0; i < h->n && !h->op && h->number; i++)
		if (h->verdict != HANG_MISMATCH || !h->ranks[i].culprit)
			h->op = at_number(&h->ranks[i], h->number);
	if (h->op)
		h->func = h->op->func;
	for (size_t i = 0; i < h->n && h->func < 0; i++)
		if (h->ranks[i].number == h->number && h->number)
			h->func = hang_func_of(h->ranks[i].call);
}

/* Return true if some are in a call of NCCL that is no operation: they wait for those that are in none, and do not wait. */
static bool in_calls(struct hang *h)
{
	size_t n = 0;
	bool init = true;

	for (size_t i = 0; i < h->n; i++) {
		const struct hang_rank *r = &h->ranks[i];

		if (!r->call || hang_is_of(hang_func_of(r->call), CUDA_OPERATION))
			continue;
		n++;
		init &= !r->m;
		h->func = hang_func_of(r->call);
	}
	if (!n)
		return false;
	h->verdict = init ? HANG_INIT : HANG_CALL;
	for (size_t i = 0; i < h->n; i++)
		h->ranks[i].culprit = !hang_waits(&h->ranks[i]);
	return true;
}

static size_t waiting(const struct hang *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++)
		n += hang_waits(&h->ranks[i]);
	return n;
}

void hang_judge_unseen(struct hang *h)
{
	size_t n = waiting(h);

	h->verdict = !n ? HANG_IDLE : n < h->n ? HANG_SUSPECT : HANG_PENDING;
	for (size_t i = 0; i < h->n; i++)
		h->ranks[i].culprit = n && !hang_waits(&h->ranks[i]);
}

static bool all_complete(const struct hang *h)
{
	for (size_t i = 0; i < h->n; i++)
		if (!h->ranks[i].has_ended && (h->ranks[i].call || h->ranks[i].complete != COMPLETE))
			return false;
	return true;
}

/* Else they wait for messages. */
static bool some_collective_pends(const struct hang *h)
{
	for (size_t i = 0; i < h->n; i++)
		if (!h->ranks[i].has_ended && (h->ranks[i].first || hang_is_collective(hang_func_of(h->ranks[i].call))))
			return true;
	return false;
}

static void judge_seen(struct hang *h)
{
	unsigned long long furthest = 0, last = ~0ull;

	for (size_t i = 0; i < h->n; i++) {
		furthest = judge_later(furthest, h->ranks[i].number);
		last = h->ranks[i].number < last ? h->ranks[i].number : last;
	}
	if (!waiting(h) && !was_mismatch(h))	/* whoever is behind, nobody minds */
		return;
	if (find_mismatch(h, furthest)) {
		h->verdict = HANG_MISMATCH;
		return;
	}
	if (in_calls(h))
		return;
	if (last == furthest && waiting(h) < h->n && all_complete(h)) {	/* in CUDA graphs: those that do not wait may be behind */
		hang_judge_unseen(h);
		return;
	}
	if (last == furthest && messages_judge(h))
		return;
	h->verdict = last < furthest ? HANG_BEHIND : HANG_PENDING;
	h->number = last < furthest ? last + 1 : some_collective_pends(h) ? furthest : 0;
	for (size_t i = 0; i < h->n; i++)
		h->ranks[i].culprit = h->ranks[i].number < h->number || h->ranks[i].has_ended;
}

static void judge(struct hang *h, unsigned long long now, unsigned long long stall_ns)
{
	for (size_t i = 0; i < h->n; i++)
		h->moved = judge_later(h->moved, h->ranks[i].moved);
	if (h->whole)
		judge_seen(h);
	else if (!in_calls(h))
		hang_judge_unseen(h);
	if (h->verdict != HANG_MISMATCH && was_mismatch(h))
		keep_mismatch(h);
	name_operation(h);
	for (size_t i = 0; i < h->n; i++)
		if (h->ranks[i].culprit && !h->ranks[i].call && !h->ranks[i].report)
			h->ranks[i].tid = h->ranks[i].m && h->ranks[i].m->tid ? h->ranks[i].m->tid : h->ranks[i].pid;
	if (h->verdict != HANG_IDLE && h->moved + stall_ns > now && !was_mismatch(h)) {
		h->verdict = HANG_MOVING;
		for (size_t i = 0; i < h->n; i++)
			h->ranks[i].culprit = false;
	}
}

void hangs_judge(struct hangs *h, unsigned long long now, unsigned long long stall_ns)
{
	hangs_sort(h);
	for (size_t i = 0; i < h->n; i++)
		judge(&h->all[i], now, stall_ns);
}
