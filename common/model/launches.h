/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The launches that bpf/lib/launch_counts.bpf.h counts, grouped by kernel, call site or process. */
#ifndef MODEL_LAUNCHES_H
#define MODEL_LAUNCHES_H
#include <stdbool.h>
#include <stddef.h>
#include "model/captures.h"
#include "model/launch_counter.h"

struct process_event;
struct stack;
struct syms;

struct launches {
	bool keep;		/* keep showing what ended processes did; else only until the next
				 * interval */
	struct captures captures;	/* set by the tool, if the probes follow graphs */
	/* set by the tool, if the probes send each launch: from which stack; NULL: not known */
	void (*on_launch)(void *ctx, const struct launch_made *launch, const struct stack *stack);
	void *ctx;
	/* state */
	struct syms *syms;
	struct executions *programs;
	struct counters counters;
	struct quota graphs;		/* bytes of the programs' graphs; whole: no other user is traced … */
	struct budget graph_time;	/* … else the time that users' graphs take */
	unsigned long long lost_nodes;	/* graphs and their nodes that were too many for a process */
	unsigned long long walked;	/* when the probes' keys were looked through, ns */
};

/* By process, device, stream and kernel, merging those with the same full or brief name; or without the kernel; or by
 * executable graph and what that runs, without other launches. */
enum launches_by { LAUNCHES_BY_BRIEF, LAUNCHES_BY_FULL, LAUNCHES_BY_PROCESS, LAUNCHES_BY_GRAPH };

struct launch_row {
	const struct execution *program;
	int pid;
	unsigned int device;		/* see abi/device.h */
	unsigned long long stream;	/* see abi/stream.h */
	const char *comm;
	const struct kernel *kernel;	/* NULL: only func is known, or it is a graph */
	unsigned long long func;	/* as passed; 0 by process */
	int kind;			/* enum launch_kind; -1 by process; LAUNCH_GRAPH: one without kernels, or … */
	bool unknown;			/* … whose kernels are not known */
	const struct graph_now *graph;		/* by graph: what it runs; else NULL */
	const struct stack *stack;		/* by graph: where it was made */
	struct launch_tally last;		/* in the last interval */
	struct launch_tally total;		/* since tracing began */
	unsigned long long time;		/* of the last launch: CLOCK_MONOTONIC, ns */
	unsigned grid[3], block[3];		/* of the last launch; 0 = unknown */
};

/* counts and quick are the probes' maps, shares what users hold of counts.  The caller owns them and
 * syms and keeps them alive. */
struct launches *launches_new(struct syms *syms, const struct bpf_map *counts,
			      const struct bpf_map *quick, struct shares *shares, bool keep);
void launches_free(struct launches *l);

/* Call for a process that runs when tracing begins: records its kernels, as it may end soon. */
void launches_scan(struct launches *l, int pid);

/* Handles a record of the probes: a launch, or a fork. */
void launches_record(struct launches *l, const void *data, size_t size);

/* Call when a process has ended or runs another program (proc/process_table.h), before its symbols are dropped or read again.
 * launches is a struct launches *. */
void launches_ended(void *launches, const struct process_event *event);

/* Call every few milliseconds: gives back room in the probes' maps. */
void launches_tick(struct launches *l);

/* Ends an interval: reads the counts. */
void launches_count(struct launches *l);

/* All launches as of the last launches_count(): *n rows, unsorted.  The caller frees the array;
 * what it points to is valid until the next launches_count(). */
struct launch_row *launches_rows(const struct launches *l, enum launches_by by, size_t *n);

/* Calls fn for each executable graph that was launched in the last interval: how often, from which stack, and what it runs;
 * with counters of the same graph on other devices, streams or from other stacks apart. */
typedef void launches_graph_fn(void *ctx, const struct counter *graph);
void launches_each_graph(const struct launches *l, launches_graph_fn *fn, void *ctx);

/* The number of launches, including those no longer shown. */
unsigned long long launches_total(const struct launches *l);

/* The number of those that had an impossible grid or block, and so failed. */
unsigned long long launches_impossible(const struct launches *l);

#endif
