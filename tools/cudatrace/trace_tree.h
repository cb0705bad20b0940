/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls inside of calls: a record comes at each return, the inner call's first; a line of the
 * outer call goes before it. */
#ifndef TRACE_TREE_H
#define TRACE_TREE_H

struct trace_call;

/* Prints the call and those inside of it, in the order of their entries, once it is whole. */
void trace_tree_call(const struct trace_call *call);

/* The process ended, or (-1) tracing: prints what is left. */
void trace_tree_end(int pid);

#endif
