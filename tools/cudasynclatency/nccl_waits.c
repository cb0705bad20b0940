/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "abi/launch.h"
#include "abi/lost.h"
#include "abi/nccl_event.h"
#include "abi/nccl_last.h"
#include "abi/process.h"
#include "api/cuda_fn.h"
#include "api/nccl.h"
#include "base/clock.h"
#include "base/die.h"
#include "bpf/map_backend.h"
#include "cli/field.h"
#include "cudasynclatency/nccl_waits.h"
#include "inflight/inflight.h"
#include "model/entries.h"
#include "probe/uprobes.h"
#include "session/session.h"

static void program_ended(void *ctx, const struct process_event *e)
{
	struct nccl_waits *w = ctx;

	captures_program_ended(&w->captures, e->program);
	communicators_ended(&w->communicators, e);
	if (!w->shares->streams.used)
		return;
	entries_drop_program(w->lasts, &w->shares->streams, offsetof(struct nccl_last_of, share), e->program);
	entries_drop_program(w->marks, &w->shares->marks, offsetof(struct nccl_last_of, share), e->program);
}

static void model_begin(struct nccl_waits *w)
{
	communicators_init(&w->communicators, &w->session->probes, session_is_alone(w->session));
}

void nccl_waits_begin(struct nccl_waits *w)
{
	struct probes *p = &w->session->probes;

	model_begin(w);
	process_on_end(&w->session->processes, program_ended, w);
	p->helper_classes |= NCCL_WAIT_CLASSES;
	if (w->session->inject)
		uprobes_toggle(p, false);
}

bool nccl_waits_record(struct nccl_waits *w, const void *data, size_t size)
{
	const struct nccl_event *e = data;

	captures_record(&w->captures, data);
	if (!nccl_event_is_right(e, size) || nccl_event_is_launch(e))
		return launch_is_record(data);
	communicators_call(&w->communicators, e);
	if (uprobes_late(&w->session->probes, e->head.pid) && w->session->verbose)
		note("process %u calls NCCL: probing events and captures", e->head.pid);
	return true;
}

/* An operation that was not seen may be later than those that were; a communicator may have another's handle. */
static void note_losses(struct nccl_waits *w)
{
	unsigned long long losses = *w->missed + w->lost[LOST_THREAD] + w->lost[LOST_GROUP];

	if (losses == w->losses)
		return;
	w->losses = losses;
	w->lost_at = clock_ns();
	communicators_free(&w->communicators);
	model_begin(w);
}

/* The communicator that the operation has named, as if a call had asked about it. */
static const struct communicator *communicator_of(struct nccl_waits *w, const struct nccl_last *op, int pid)
{
	const struct nccl_event e = {
		.head = { .pid = pid, .kind = CUDA_ID_ncclCommCount }, .time = op->start, .start = op->start,
		.program = op->program, .code = op->code, .handle = op->handle, .tid = op->tid, .uid = op->uid, .other = -1,
	};
	const struct communicator *m = communicators_call(&w->communicators, &e);

	return m && m->whole && m->made > op->start ? NULL : m;
}

static struct inflight_op op_of(struct nccl_waits *w, const struct inflight_row *row, unsigned long long now)
{
	const struct nccl_last *last = &row->behind;
	struct inflight_op op = { .count = OUT_NONE, .hash = OUT_NONE, .rank = OUT_NONE, .nranks = OUT_NONE, .age = OUT_NONE };
	const struct cuda_fn *fn = cuda_fn_of(last->func);
	const struct communicator *m;

	/* with --attach inject the program may have written anything */
	if (!last->start || last->start <= w->lost_at || fn->class != CUDA_OPERATION)
		return op;
	op.func = fn->name;
	op.count = fn->args.count ? last->count : OUT_NONE;
	op.type = fn->args.dtype ? nccl_type_name(last->type) : NULL;
	op.age = now > last->start ? now - last->start : 0;
	m = communicator_of(w, last, row->pid);
	if (m && m->hash)
		op.hash = m->hash;
	if (m && m->nranks) {
		op.rank = m->rank;
		op.nranks = m->nranks;
	}
	return op;
}

void nccl_waits_set(struct nccl_waits *w, struct inflight *r)
{
	r->ops = w->session;
	if (!r->ops)
		return;
	note_losses(w);
	for (size_t i = 0; i < r->n; i++)
		r->rows[i].op = op_of(w, &r->rows[i], r->now);
}

void nccl_waits_free(struct nccl_waits *w)
{
	if (w->session)
		communicators_free(&w->communicators);
}
