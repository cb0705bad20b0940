/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The CUDA graphs of one execution of a program: how they are made, and what one launch of each runs. */
#ifndef MODEL_GRAPHS_H
#define MODEL_GRAPHS_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/launch.h"
#include "base/hash.h"

struct budget;
struct execution;
struct graph;
struct graph_content;
struct graph_node_of;
struct graph_operations;
struct kernel;
struct launch_event;
struct quota;
struct stack;
struct syms;

/* Work of the nodes of a graph that are the same. */
struct graph_work {
	unsigned long long func;	/* of a kernel: as passed; of memory that is allocated or freed: its address */
	const struct kernel *kernel;	/* NULL: its name is not known, or it is none */
	unsigned int kind;		/* enum node_kind, but for graphs: what those do is here */
	unsigned int count;
	union {
		struct { unsigned int grid[3], block[3]; };	/* of kernels; 0 = unknown */
		struct {
			unsigned int number;	/* its place among the graph's operations */
			unsigned int id, type, op;	/* enum cuda_id, ncclDataType_t, ncclRedOp_t */
			int other;		/* root or peer; -1: none */
			unsigned int unused2;
		} operation;	/* func is its communicator's handle, bytes how many values it has */
	};
	unsigned long long bytes;	/* of each: of copies, memsets and memory */
	unsigned int direction;		/* of copies, enum cuda_direction */
	unsigned int device;		/* of memory that is allocated, see abi/device.h; 0: that of the launch */
};

/* Returns "kernel", "cooperative", "memcpy", "memset", "host", "alloc", "free", "conditional", "operation" or "other". */
const char *node_kind_name(unsigned kind);

/* Return true if a node does that with the memory at an address. */
bool graph_content_has(const struct graph_content *c, enum node_kind kind, unsigned long long at);

static inline bool graph_work_is_kernel(const struct graph_work *w)
{
	return w->kind < LAUNCH_GRAPH;
}

/* Work of a launch.  Executable graphs that do the same share it, and so do the counters of their launches. */
struct graph_content {
	struct graph_content **table;	/* that it is in; NULL: none any more */
	struct quota *quota;		/* that it takes from, for this user */
	int pid;
	unsigned user, refs;
	unsigned long long kernels;	/* how many one launch runs */
	bool memory;			/* some nodes allocate or free */
	size_t n;			/* > 0 */
	size_t noperations;		/* of these: the last ones */
	/* Or NULL; bytes, charged as the content is; unsummed: there can be none. */
	struct graph_operations *operations;
	void (*free_operations)(struct graph_operations *o);
	size_t operations_cost;
	bool unsummed;
	UT_hash_handle hh;
	struct graph_work all[];	/* operations last, in the order in which they were captured */
};

/* The limits of a process: beyond them, a graph's kernels are not known.  A child graph counts as one node, and one for each
 * work of its own. */
enum { GRAPHS_MAX = 4096, GRAPH_NODES_MAX = 65536 };

#define GRAPHS_LOST "more than 4096 graphs or 65536 nodes in a process, or its user's time is used up"

/* Starts zeroed but for the first five. */
struct graphs {
	struct quota *quota;		/* bytes of what is kept here: must outlive the contents */
	struct budget *time;		/* that their records take; NULL: any */
	struct syms *syms;		/* for the stacks of the records */
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

/* An operation of NCCL was captured, by the capture of that id. */
void graphs_captured(struct graphs *g, unsigned long long capture, const struct graph_work *operation);

/* Handles a record from LAUNCH_CAPTURED on; others are ignored.  p is the execution whose graphs these are. */
void graphs_record(struct graphs *g, struct execution *p, const struct launch_event *e, size_t size);

/* Return true if launches may be handled; false if the user has used up his time. */
bool graphs_follow(struct graphs *g);

/* Current state of an executable graph. */
struct graph_now {
	struct graph_content *content;	/* with a reference; NULL: nothing, or it is not known */
	bool known;
	const struct stack *made;	/* the calls that captured it, or else that instantiated it; NULL: not known */
};

/* The caller puts the content back. */
struct graph_now graphs_now(struct graphs *g, unsigned long long exec);

/* Returns c with another reference; NULL if c is NULL, or the user has too much. */
struct graph_content *graph_content_get(struct graph_content *c);

/* c may be NULL. */
void graph_content_put(struct graph_content *c);

void graphs_free(struct graphs *g);

#endif
