/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/hash.h"
#include "cudatrace/trace.h"
#include "cudatrace/trace_line.h"
#include "cudatrace/trace_tree.h"

/* One call that makes more is printed in pieces. */
enum { MAX_INNER = 65536 };

struct tree {
	int tid, pid;
	struct trace_call **calls;
	int n, room;
	UT_hash_handle hh;
};

static struct tree *trees;

static int by_entry(const void *a, const void *b)
{
	const struct trace_event *p = (*(struct trace_call *const *)a)->event;
	const struct trace_event *q = (*(struct trace_call *const *)b)->event;

	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	return p->depth - q->depth;
}

static void print(struct tree *t)
{
	qsort(t->calls, t->n, sizeof(*t->calls), by_entry);
	for (int i = 0; i < t->n; i++) {
		trace_line(t->calls[i]);
		free(t->calls[i]);
	}
	HASH_DEL(trees, t);
	free(t->calls);
	free(t);
}

void trace_tree_call(const struct trace_call *call)
{
	int tid = call->event->tid;
	struct tree *t;

	HASH_FIND_INT(trees, &tid, t);
	if (!t && !call->event->depth) {
		trace_line(call);
		return;
	}
	if (!t) {
		t = xcalloc(1, sizeof(*t));
		t->tid = tid;
		t->pid = call->event->head.pid;
		HASH_ADD_INT(trees, tid, t);
	}
	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 16;
		t->calls = xrealloc(t->calls, t->room, sizeof(*t->calls));
	}
	t->calls[t->n++] = trace_call_keep(call);
	if (!call->event->depth || t->n == MAX_INNER)
		print(t);
}

void trace_tree_end(int pid)
{
	struct tree *t, *next;

	HASH_ITER(hh, trees, t, next)
		if (pid < 0 || t->pid == pid)
			print(t);
}
