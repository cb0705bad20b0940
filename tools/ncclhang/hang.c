/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "api/cuda_fn.h"
#include <string.h>
#include "base/die.h"
#include "base/hash.h"
#include "base/util.h"
#include "model/communicators.h"
#include "model/inflight.h"
#include "ncclhang/hang.h"
#include "ncclhang/hang_report.h"
#include "proc/user.h"

const char *const hang_words[HANG_VERDICTS] = {
	"idle", "moving", "init", "call", "mismatch", "behind", "pending", "suspect",
};

struct look {
	const struct communicators *communicators;
	const struct completion *completion;
	const struct inflight *inflight;
	const struct hang_ended *ended;
	size_t nended;
	struct hangs hangs;
};

/* ---- Who is there */

struct hang_place {
	struct { unsigned long long hash; unsigned user; int nranks; } key;
	size_t at;
	UT_hash_handle hh;
};

static void forget_places(struct hangs *h)
{
	struct hang_place *place, *next;

	HASH_ITER(hh, h->places, place, next) {
		HASH_DEL(h->places, place);
		free(place);
	}
}

/* Returns NULL if there is none, or its hash is not known. */
static struct hang *find(const struct hangs *h, unsigned long long hash, int nranks, unsigned user)
{
	struct hang_place *place, want = { .key = { hash, user, nranks } };

	HASH_FIND(hh, h->places, &want.key, sizeof(want.key), place);
	return place ? &h->all[place->at] : NULL;
}

struct hang *hangs_add(struct hangs *h, unsigned long long hash, int nranks, unsigned user)
{
	struct hang *known = find(h, hash, nranks, user);
	struct hang_place *place;

	if (known)
		return known;
	if (hash) {
		place = xcalloc(1, sizeof(*place));
		place->key.hash = hash;
		place->key.user = user;
		place->key.nranks = nranks;
		place->at = h->n;
		HASH_ADD(hh, h->places, key, sizeof(place->key), place);
	}
	if (h->n == h->room) {
		h->room = h->room ? 2 * h->room : 16;
		h->all = xrealloc(h->all, h->room, sizeof(*h->all));
	}
	h->all[h->n] = (struct hang){ .hash = hash, .nranks = nranks, .user = user, .whole = true, .func = -1 };
	return &h->all[h->n++];
}

struct hang_rank *hang_add(struct hang *h)
{
	if (h->n == h->room) {
		h->room = h->room ? 2 * h->room : 8;
		h->ranks = xrealloc(h->ranks, h->room, sizeof(*h->ranks));
	}
	h->ranks[h->n] = (struct hang_rank){ .rank = -1 };
	return &h->ranks[h->n++];
}

static int func_of(const struct inflight_row *row)
{
	return row ? cuda_fn_find(row->func) : -1;
}

static bool is_of(int func, enum cuda_class class)
{
	return func >= 0 && cuda_fns[func].class == class;
}

bool hang_is_collective(int func)
{
	return is_of(func, CUDA_OPERATION) && cuda_fns[func].args.count && !cuda_fns[func].args.peer;
}

/* Of a call whose entry was seen: the communicator that it is about; of the end of a group, that of the thread's last operation. */
static bool is_about(const struct inflight_row *row, const struct communicator *m)
{
	const struct comm_op *last = communicator_last(m);

	if (row->pid != m->pid || !row->nccl.is_nccl)
		return false;
	if (row->nccl.handle)
		return row->nccl.handle == m->handle;
	return is_of(func_of(row), CUDA_GROUP) && last && last->group && last->group == row->nccl.group && (int)last->tid == row->tid;
}

/* Rows are sorted, the longest first.  Of waits that of the thread which called last counts before others'. */
static void find_calls(const struct inflight *inflight, struct hang_rank *r)
{
	for (size_t i = 0; i < inflight->n; i++) {
		const struct inflight_row *row = &inflight->rows[i];

		if (row->pid != r->pid)
			continue;
		if (r->m && !r->call && is_about(row, r->m))
			r->call = row;
		else if (!row->nccl.is_nccl && !is_of(func_of(row), CUDA_QUERY) &&
			 (!r->wait || (r->m && row->tid == r->m->tid && r->wait->tid != row->tid)))
			r->wait = row;
	}
	r->is_unread = !r->call && !r->wait && inflight_is_unread(inflight, r->pid);
}

static unsigned long long later(unsigned long long a, unsigned long long b)
{
	return a > b ? a : b;
}

static void add_communicator(void *ctx, const struct communicator *m)
{
	struct look *l = ctx;
	struct hang_rank *r;
	unsigned long long noticed;
	struct hang *h;

	if (m->ended)
		return;
	h = hangs_add(&l->hangs, m->hash, m->nranks, m->uid);
	r = hang_add(h);
	r->m = m;
	r->pid = m->pid;
	r->rank = m->nranks ? m->rank : -1;
	r->last = communicator_last(m);
	r->number = m->collectives;
	r->moved = m->made;
	if (r->last) {
		r->complete = completion_of(l->completion, m, r->last, l->inflight->now, &noticed);
		/* what completes later is not this communicator's */
		r->moved = r->complete == COMPLETE ? r->last->time : later(r->last->time, noticed);
	}
	find_calls(l->inflight, r);
	if (r->wait && !r->call && r->complete == COMPLETE_UNKNOWN && r->wait->complete)
		r->moved = later(r->moved, l->inflight->now - r->wait->age);
	if (r->call) {
		r->moved = later(r->moved, l->inflight->now - r->call->age);
		r->number += hang_is_collective(func_of(r->call));
	}
	r->op = r->last;
	r->tid = r->call ? r->call->tid : r->wait ? r->wait->tid : m->tid ?: m->pid;
	h->whole &= m->whole;
	h->unknown |= communicator_has_unknown(m);
}

/* A communicator that is being made. */
static void add_init(struct look *l, const struct inflight_row *row)
{
	struct hang *h = hangs_add(&l->hangs, row->nccl.hash, row->nccl.nranks, proc_user(row->pid));
	struct hang_rank *r = hang_add(h);

	r->rank = row->nccl.rank;
	r->pid = row->pid;
	r->tid = row->tid;
	r->call = row;
	r->moved = l->inflight->now - row->age;
}

static void add_ended(struct look *l, const struct hang_ended *e)
{
	struct hang *to = find(&l->hangs, e->hash, e->nranks, e->user);
	struct hang_rank *r;

	if (!to)
		return;
	for (size_t i = 0; i < to->n; i++)
		if (to->ranks[i].rank == e->rank)
			return;
	r = hang_add(to);
	r->rank = e->rank;
	r->pid = r->tid = e->pid;
	r->number = e->number;
	r->moved = e->time;
	r->has_ended = true;
}

static void gather(struct look *l)
{
	communicators_each(l->communicators, add_communicator, l);
	for (size_t i = 0; i < l->inflight->n; i++) {
		const struct inflight_row *row = &l->inflight->rows[i];

		if (row->nccl.hash && row->nccl.nranks && !row->nccl.handle)
			add_init(l, row);
	}
	for (size_t i = 0; i < l->nended; i++)
		add_ended(l, &l->ended[i]);
}

/* ---- The verdict */

static const struct comm_op *at_number(const struct hang_rank *r, unsigned long long number)
{
	if (r->report)		/* which has one operation */
		return r->last && !r->last->message && r->last->number == number ? r->last : NULL;
	return r->m ? communicator_collective(r->m, number) : NULL;
}

/* A call that has not returned is an operation, too. */
static bool take_call(const struct hang_rank *r, unsigned long long number, struct comm_op *op)
{
	if (!r->call || !r->call->nccl.is_nccl || !hang_is_collective(func_of(r->call)) || r->number != number)
		return false;
	*op = (struct comm_op){
		.func = func_of(r->call), .count = r->call->nccl.count, .type = r->call->nccl.type, .op = r->call->nccl.op,
		.other = r->call->nccl.other,
	};
	return true;
}

/* What rank r called by that number; false if that is not known any more. */
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
	for (size_t i = 0; i < h->n && !h->op && h->number; i++)
		if (h->verdict != HANG_MISMATCH || !h->ranks[i].culprit)
			h->op = at_number(&h->ranks[i], h->number);
	if (h->op)
		h->func = h->op->func;
	for (size_t i = 0; i < h->n && h->func < 0; i++)
		if (h->ranks[i].number == h->number && h->number)
			h->func = func_of(h->ranks[i].call);
}

static bool waits(const struct hang_rank *r)
{
	if (r->call || r->is_unread || (r->is_missing && r->wait) || r->complete == COMPLETE_NOT)
		return true;
	return r->wait && (r->complete == COMPLETE_UNKNOWN ||
			   (r->m && communicator_has_unknown(r->m)));
}

/* Return true if some are in a call of NCCL that is no operation: they wait for those that are in none, and do not wait. */
static bool in_calls(struct hang *h)
{
	size_t n = 0;
	bool init = true;

	for (size_t i = 0; i < h->n; i++) {
		const struct hang_rank *r = &h->ranks[i];

		if (!r->call || is_of(func_of(r->call), CUDA_OPERATION))
			continue;
		n++;
		init &= !r->m;
		h->func = func_of(r->call);
	}
	if (!n)
		return false;
	h->verdict = init ? HANG_INIT : HANG_CALL;
	for (size_t i = 0; i < h->n; i++)
		h->ranks[i].culprit = !waits(&h->ranks[i]);
	return true;
}

static size_t waiting(const struct hang *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++)
		n += waits(&h->ranks[i]);
	return n;
}

void hang_judge_unseen(struct hang *h)
{
	size_t n = waiting(h);

	h->verdict = !n ? HANG_IDLE : n < h->n ? HANG_SUSPECT : HANG_PENDING;
	for (size_t i = 0; i < h->n; i++)
		h->ranks[i].culprit = n && !waits(&h->ranks[i]);
}

static bool all_complete(const struct hang *h)
{
	for (size_t i = 0; i < h->n; i++)
		if (!h->ranks[i].has_ended && (h->ranks[i].call || h->ranks[i].complete != COMPLETE))
			return false;
	return true;
}

static void judge_seen(struct hang *h)
{
	unsigned long long furthest = 0, last = ~0ull;

	for (size_t i = 0; i < h->n; i++) {
		furthest = later(furthest, h->ranks[i].number);
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
	h->verdict = last < furthest ? HANG_BEHIND : HANG_PENDING;
	h->number = last < furthest ? last + 1 : all_complete(h) ? 0 : furthest;
	for (size_t i = 0; i < h->n; i++)
		h->ranks[i].culprit = h->ranks[i].number < h->number || h->ranks[i].has_ended;
}

static void judge(struct hang *h, unsigned long long now, unsigned long long stall_ns)
{
	for (size_t i = 0; i < h->n; i++)
		h->moved = later(h->moved, h->ranks[i].moved);
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

/* ---- All */

static int by_rank(const void *a, const void *b)
{
	const struct hang_rank *p = a, *q = b;

	return p->rank != q->rank ? p->rank - q->rank : p->pid - q->pid;
}

static int by_hash(const void *a, const void *b)
{
	const struct hang *p = a, *q = b;

	if (p->hash != q->hash)
		return p->hash < q->hash ? -1 : 1;
	return p->nranks - q->nranks;
}

void hangs_judge(struct hangs *h, unsigned long long now, unsigned long long stall_ns)
{
	for (size_t i = 0; i < h->n; i++) {
		qsort(h->all[i].ranks, h->all[i].n, sizeof(*h->all[i].ranks), by_rank);
		judge(&h->all[i], now, stall_ns);
	}
	forget_places(h);
	if (h->n)
		qsort(h->all, h->n, sizeof(*h->all), by_hash);
}

struct hangs hangs_look(const struct communicators *communicators, const struct completion *completion, const struct inflight *inflight,
			const struct hang_ended *ended, size_t nended, unsigned long long now, unsigned long long stall_ns)
{
	struct look l = {
		.communicators = communicators, .completion = completion, .inflight = inflight, .ended = ended, .nended = nended,
	};

	gather(&l);
	hangs_judge(&l.hangs, now, stall_ns);
	return l.hangs;
}

void hang_add_missing(struct hang *h, int pid, int rank, const struct inflight *inflight)
{
	struct hang_rank *r = hang_add(h);

	r->rank = rank;
	r->pid = r->tid = pid;
	r->is_missing = true;
	find_calls(inflight, r);
	r->culprit = !r->wait && !r->is_unread;
	if (r->wait)
		r->tid = r->wait->tid;
	if (r->culprit)
		h->verdict = HANG_SUSPECT;
	qsort(h->ranks, h->n, sizeof(*h->ranks), by_rank);
}

void hangs_free(struct hangs *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->all[i].ranks);
	forget_places(h);
	free(h->all);
	*h = (struct hangs){ 0 };
}
