/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The CUDA graphs of all traced programs. */
#ifndef CUDALEAK_GRAPH_TABLE_H
#define CUDALEAK_GRAPH_TABLE_H
#include <stddef.h>
#include "base/quota.h"
#include "model/captures.h"
#include "model/graphs.h"

struct executions;
struct process_event;
struct syms;

struct graph_table {
	struct executions *programs;
	struct captures captures;	/* set by the tool */
	struct syms *syms;
	struct quota quota;		/* whole: no other user is traced … */
	struct budget time;		/* … else what users' graphs may take */
	unsigned long long lost;	/* graphs and nodes that were too many for a process */
};

/* The caller owns syms, which must outlive the table; NULL: without stacks. */
void graph_table_init(struct graph_table *t, struct syms *syms);
void graph_table_free(struct graph_table *t);

/* Handles a record of bpf/lib/graph.bpf.h. */
void graph_table_record(struct graph_table *t, const struct launch_event *e, size_t size);

/* Call when a process has ended or runs another program (proc/process_table.h); t is a struct graph_table *. */
void graph_table_ended(void *t, const struct process_event *event);

/* Returns what the executable graph of a launch is; the caller puts the content back.  Not known if the user's time is used
 * up, which counts as lost. */
struct graph_now graph_table_now(struct graph_table *t, unsigned long long program, unsigned long long exec);

/* Charges the program's user for the time since began, CLOCK_MONOTONIC, ns. */
void graph_table_charge(struct graph_table *t, unsigned long long program, unsigned long long began);

#endif
