/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/hash.h"
#include "proc/users.h"
#include "cudatrace/trace.h"
#include "cudatrace/trace_line.h"
#include "cudatrace/trace_tree.h"

/* The calls of a thread. */
struct trace_tree {
	int tid, pid;
	unsigned user;
	struct trace_call **calls;
	int n, room;
	size_t cost;		/* bytes of the quota */
	UT_hash_handle hh;
};

struct quota trace_tree_quota(void)
{
	return (struct quota){
		.limit = 24 << 20, .what = "calls inside calls",
		.loss = "calls with very many calls inside are printed in pieces",
	};
}

static int by_entry(const void *a, const void *b)
{
	const struct trace_event *p = (*(struct trace_call *const *)a)->event;
	const struct trace_event *q = (*(struct trace_call *const *)b)->event;

	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	return p->depth - q->depth;
}

static void print(struct trace_trees *trees, struct trace_tree *t)
{
	if (t->n)
		qsort(t->calls, t->n, sizeof(*t->calls), by_entry);
	for (int i = 0; i < t->n; i++) {
		trace_line(trees->lines, t->calls[i]);
		trace_call_drop(t->calls[i]);
	}
	HASH_DEL(trees->by_tid, t);
	quota_give(&trees->quota, t->user, t->cost);
	free(t->calls);
	free(t);
}

static struct trace_tree *tree_of(struct trace_trees *trees, const struct trace_event *e)
{
	struct trace_tree *t = xcalloc(1, sizeof(*t));

	t->tid = e->tid;
	t->pid = e->head.pid;
	t->user = users_of(trees->users, t->pid);
	HASH_ADD_INT(trees->by_tid, tid, t);
	return t;
}

/* Returns false if there are too many. */
static bool keep(struct trace_trees *trees, struct trace_tree *t, const struct trace_call *call)
{
	/* with its pointer in an array that doubles, and a part of the tree */
	size_t cost = trace_call_cost(call) + 2 * sizeof(call) + (t->n ? 0 : 2 * sizeof(*t));

	if (!quota_take(&trees->quota, t->user, t->pid, cost))
		return false;
	t->cost += cost;
	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 4;
		t->calls = xrealloc(t->calls, t->room, sizeof(*t->calls));
	}
	t->calls[t->n++] = trace_call_keep(call);
	return true;
}

void trace_tree_call(struct trace_trees *trees, const struct trace_call *call)
{
	int tid = call->event->tid;
	struct trace_tree *t;

	HASH_FIND_INT(trees->by_tid, &tid, t);
	if (!t && !call->event->depth) {
		trace_line(trees->lines, call);
		return;
	}
	if (!t)
		t = tree_of(trees, call->event);
	if (!keep(trees, t, call)) {
		print(trees, t);
		trace_line(trees->lines, call);
	} else if (!call->event->depth) {
		print(trees, t);
	}
}

void trace_tree_end(struct trace_trees *trees, int pid)
{
	struct trace_tree *t, *next;

	HASH_ITER(hh, trees->by_tid, t, next)
		if (pid < 0 || t->pid == pid)
			print(trees, t);
	if (pid < 0)
		quota_free(&trees->quota);
}
