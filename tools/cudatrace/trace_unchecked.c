/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/hash.h"
#include "proc/users.h"
#include "cudatrace/trace.h"
#include "cudatrace/trace_line.h"
#include "cudatrace/trace_unchecked.h"

/* A thread's last call, if it failed. */
struct trace_failure {
	int tid;
	unsigned user;
	size_t cost;		/* bytes of the quota */
	struct trace_call *call;
	UT_hash_handle hh;
};

struct quota trace_unchecked_quota(void)
{
	return (struct quota){
		.limit = 8 << 20, .what = "failed calls that may be unchecked",
		.loss = "those of further threads are not printed",
	};
}

bool trace_asks(const struct cuda_proto *proto)
{
	return proto->group == CUDA_GROUP_error;
}

static void drop(struct trace_unchecked *u, struct trace_failure *p)
{
	HASH_DEL(u->by_tid, p);
	quota_give(&u->quota, p->user, p->cost);
	trace_call_drop(p->call);
	free(p);
}

static void add(struct trace_unchecked *u, const struct trace_call *call)
{
	int pid = call->event->head.pid;
	unsigned user = users_of(u->users, pid);
	struct trace_failure *p;
	size_t cost = sizeof(*p) + 32 + trace_call_cost(call);

	if (!quota_take(&u->quota, user, pid, cost))
		return;
	p = xcalloc(1, sizeof(*p));
	p->tid = call->event->tid;
	p->user = user;
	p->cost = cost;
	p->call = trace_call_keep(call);
	HASH_ADD_INT(u->by_tid, tid, p);
}

void trace_unchecked_call(struct trace_unchecked *u, const struct trace_call *call)
{
	int tid = call->event->tid;
	struct trace_failure *p;

	if (call->event->head.kind != TRACE_CALL || call->event->depth)
		return;
	HASH_FIND_INT(u->by_tid, &tid, p);
	/* the thread that had this tid before may have exited */
	if (p && !trace_asks(call->proto) && p->call->event->head.pid == call->event->head.pid) {
		p->call->next = call->proto->name;
		trace_line(u->lines, p->call);
	}
	if (p)
		drop(u, p);
	if (call->failed)
		add(u, call);
}

void trace_unchecked_forget(struct trace_unchecked *u, int pid)
{
	struct trace_failure *p, *next;

	HASH_ITER(hh, u->by_tid, p, next)
		if (pid < 0 || (int)p->call->event->head.pid == pid)
			drop(u, p);
	if (pid < 0)
		quota_free(&u->quota);
}
