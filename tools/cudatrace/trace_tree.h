/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls inside of calls: a record comes at each return, the inner call's first; a line of the
 * outer call goes before it. */
#ifndef TRACE_TREE_H
#define TRACE_TREE_H

struct trace_call;
struct trace_lines;

struct trace_trees {
	const struct trace_lines *lines;	/* how calls are printed; stays the caller's */
	struct trace_tree *by_tid;		/* the calls of each thread; NULL at first */
};

/* Prints the call and those inside of it, in the order of their entries, once it is whole. */
void trace_tree_call(struct trace_trees *trees, const struct trace_call *call);

/* The process ended, or (-1) tracing: prints what is left, and frees it. */
void trace_tree_end(struct trace_trees *trees, int pid);

#endif
