/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls inside calls: a record comes at each return, the inner call's first; but the outer call's
 * line goes before it. */
#ifndef TRACE_TREE_H
#define TRACE_TREE_H

#include "base/quota.h"

struct trace_call;
struct trace_lines;
struct users;

struct trace_trees {
	struct trace_lines *lines;	/* how to print calls; owned by the caller */
	struct users *users;			/* of the processes; likewise */
	struct trace_tree *by_tid;		/* each thread's calls; NULL at first */
	struct quota quota;	/* bytes of the calls; as trace_tree_quota() at first */
};

struct quota trace_tree_quota(void);

/* Prints the call and those inside it, in the order of their entries, once it is complete.
 * If there are too many, they are printed in pieces. */
void trace_tree_call(struct trace_trees *trees, const struct trace_call *call);

/* Call when the process ends or, with -1, when tracing does: prints what is left and frees it. */
void trace_tree_end(struct trace_trees *trees, int pid);

#endif
