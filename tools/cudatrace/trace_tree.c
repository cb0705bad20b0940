/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/hash.h"
#include "cudatrace/trace.h"
#include "cudatrace/trace_line.h"
#include "cudatrace/trace_tree.h"

/* A call with more inner calls than this is printed in pieces. */
enum { MAX_INNER = 65536 };

/* The calls of a thread. */
struct trace_tree {
	int tid, pid;
	struct trace_call **calls;
	int n, room;
	UT_hash_handle hh;
};

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
	qsort(t->calls, t->n, sizeof(*t->calls), by_entry);
	for (int i = 0; i < t->n; i++) {
		trace_line(trees->lines, t->calls[i]);
		free(t->calls[i]);
	}
	HASH_DEL(trees->by_tid, t);
	free(t->calls);
	free(t);
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
	if (!t) {
		t = xcalloc(1, sizeof(*t));
		t->tid = tid;
		t->pid = call->event->head.pid;
		HASH_ADD_INT(trees->by_tid, tid, t);
	}
	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 16;
		t->calls = xrealloc(t->calls, t->room, sizeof(*t->calls));
	}
	t->calls[t->n++] = trace_call_keep(call);
	if (!call->event->depth || t->n == MAX_INNER)
		print(trees, t);
}

void trace_tree_end(struct trace_trees *trees, int pid)
{
	struct trace_tree *t, *next;

	HASH_ITER(hh, trees->by_tid, t, next)
		if (pid < 0 || t->pid == pid)
			print(trees, t);
}
