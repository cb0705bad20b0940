/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The CUDA graphs of one execution of a program: how they are made, and which kernels one launch of each runs. */
#ifndef MODEL_GRAPHS_H
#define MODEL_GRAPHS_H
#include <stdbool.h>
#include <stddef.h>
#include "base/hash.h"

struct budget;
struct execution;
struct graph;
struct graph_node_of;
struct kernel;
struct launch_event;
struct quota;

/* Of a graph's kernels those that are the same, with the same grid and block. */
struct graph_kernel {
	unsigned long long func;	/* as passed */
	const struct kernel *kernel;	/* NULL: its name is not known */
	unsigned int kind;		/* enum launch_kind */
	unsigned int count;
	unsigned int grid[3], block[3];	/* 0 = unknown */
};

/* What a launch runs.  Executable graphs with the same kernels share it, and so do the counters of their launches. */
struct graph_content {
	struct graph_content **table;	/* that it is in; NULL: none any more */
	struct quota *quota;		/* that it takes from, for this user */
	unsigned user, refs;
	unsigned long long kernels;	/* the sum of their counts; > 0 */
	size_t n;
	UT_hash_handle hh;
	struct graph_kernel all[];
};

/* The limits of a process: beyond them, a graph's kernels are not known. */
enum { GRAPHS_MAX = 4096, GRAPH_NODES_MAX = 65536 };

#define GRAPHS_LOST "more than 4096 graphs or 65536 nodes in a process, or its user's time is used up"

/* Starts zeroed but for the first four. */
struct graphs {
	struct quota *quota;		/* bytes of what is kept here: must outlive the contents */
	struct budget *time;		/* that their records take; NULL: any */
	unsigned user;
	int pid;
	struct graph *captures, *all;	/* by id; by handle, executable ones too */
	struct graph_node_of *nodes;	/* that have a handle, by it */
	struct graph_content *contents;
	unsigned n, nnodes;
	bool captured;			/* a capture has begun */
	bool blind;			/* the time was used up: nothing is known any more */
	unsigned long long lost;	/* graphs, nodes and records beyond the limits, the quota or the time */
};

/* Handles a record from LAUNCH_CAPTURED on; others are ignored.  p is the execution whose graphs these are. */
void graphs_record(struct graphs *g, struct execution *p, const struct launch_event *e, size_t size);

/* Returns what the executable graph runs now, which the caller puts back; NULL if it is not known.  Sets *known if it is
 * known, also if that is no kernel. */
struct graph_content *graphs_content(struct graphs *g, unsigned long long exec, bool *known);

struct graph_content *graph_content_get(struct graph_content *c);

/* c may be NULL. */
void graph_content_put(struct graph_content *c);

void graphs_free(struct graphs *g);

#endif
