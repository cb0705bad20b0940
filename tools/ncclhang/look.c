/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "api/cuda_fn.h"
#include "inflight/inflight.h"
#include "nccl/communicators.h"
#include "ncclhang/completed.h"
#include "ncclhang/hang.h"
#include "ncclhang/judge.h"
#include "ncclhang/look.h"
#include "proc/user.h"

struct look {
	const struct hang_sources *from;
	struct hangs hangs;
};

/* Of a call whose entry was seen: the communicator that it is about; of the end of a group, that of the thread's last operation. */
static bool is_about(const struct inflight_row *row, const struct communicator *m)
{
	const struct comm_op *last = communicator_last(m);

	if (row->pid != m->pid || !row->nccl.is_nccl)
		return false;
	if (row->nccl.handle)
		return row->nccl.handle == m->handle;
	return hang_is_of(hang_func_of(row), CUDA_GROUP) && last && last->group && last->group == row->nccl.group && (int)last->tid == row->tid;
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
		else if (!row->nccl.is_nccl && !hang_is_of(hang_func_of(row), CUDA_QUERY) &&
			 (!r->wait || (r->m && row->tid == r->m->tid && r->wait->tid != row->tid)))
			r->wait = row;
	}
	r->is_unread = !r->call && !r->wait && inflight_is_unread(inflight, r->pid);
}

static unsigned long long look_later(unsigned long long a, unsigned long long b)
{
	return a > b ? a : b;
}

/* Sets what is not known to be complete.  Within a stream what was called first is complete first. */
static void find_pending(const struct look *l, struct hang_rank *r)
{
	const struct communicator *m = r->m;
	const struct comm_op *op = communicator_collective(m, m->collectives), *before;
	unsigned long long until = op ? completion_until(l->from->completion, m, op) : 0;

	if (m->message.number && m->message.time > completion_until(l->from->completion, m, &m->message))
		r->message = &m->message;
	if (!op || op->time <= until)
		return;
	while ((before = communicator_collective(m, op->number - 1)) && before->stream == op->stream && before->time > until)
		op = before;
	r->first = op;
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
		r->complete = completion_of(l->from->completion, m, r->last, l->from->inflight->now, &noticed);
		/* what completes later is not this communicator's */
		r->moved = r->complete == COMPLETE ? r->last->time : look_later(r->last->time, noticed);
	}
	find_pending(l, r);
	find_calls(l->from->inflight, r);
	if (r->wait && !r->call && r->complete == COMPLETE_UNKNOWN && r->wait->complete)
		r->moved = look_later(r->moved, l->from->inflight->now - r->wait->age);
	if (r->call) {
		r->moved = look_later(r->moved, l->from->inflight->now - r->call->age);
		r->number += hang_is_collective(hang_func_of(r->call));
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
	r->moved = l->from->inflight->now - row->age;
}

static void add_ended(struct look *l, const struct hang_ended *e)
{
	struct hang *to = hangs_find(&l->hangs, e->hash, e->nranks, e->user);
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
	communicators_each(l->from->communicators, add_communicator, l);
	for (size_t i = 0; i < l->from->inflight->n; i++) {
		const struct inflight_row *row = &l->from->inflight->rows[i];

		if (row->nccl.hash && row->nccl.nranks && !row->nccl.handle)
			add_init(l, row);
	}
	for (size_t i = 0; i < l->from->nended; i++)
		add_ended(l, &l->from->ended[i]);
}

struct hangs hangs_look(const struct hang_sources *from, unsigned long long stall_ns)
{
	struct look l = { .from = from };

	gather(&l);
	hangs_judge(&l.hangs, from->inflight->now, stall_ns);
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
	hang_sort(h);
}
