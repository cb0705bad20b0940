/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/hash.h"
#include "cudatrace/trace.h"
#include "cudatrace/trace_line.h"
#include "cudatrace/trace_unchecked.h"

struct pending {
	int tid;
	struct trace_call *failure;
	UT_hash_handle hh;
};

static struct pending *pending;

bool trace_asks(const struct cuda_proto *proto)
{
	return proto->group == CUDA_GROUP_error;
}

static void drop(struct pending *p)
{
	HASH_DEL(pending, p);
	free(p->failure);
	free(p);
}

void trace_unchecked_call(const struct trace_call *call)
{
	int tid = call->event->tid;
	struct pending *p;

	if (call->event->head.kind != TRACE_CALL || call->event->depth)
		return;
	HASH_FIND_INT(pending, &tid, p);
	/* the thread that had the number before may have ended */
	if (p && !trace_asks(call->proto) && p->failure->event->head.pid == call->event->head.pid) {
		p->failure->next = call->proto->name;
		trace_line(p->failure);
	}
	if (p)
		drop(p);
	if (!call->failed)
		return;
	p = xcalloc(1, sizeof(*p));
	p->tid = tid;
	p->failure = trace_call_keep(call);
	HASH_ADD_INT(pending, tid, p);
}

void trace_unchecked_forget(int pid)
{
	struct pending *p, *next;

	HASH_ITER(hh, pending, p, next)
		if ((int)p->failure->event->head.pid == pid)
			drop(p);
}
