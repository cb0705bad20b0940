/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: graphs.  Without SIM_KERNELS a graph is a number of nodes; with it, what they do. */
#ifndef TESTS_SIM_DRV_GRAPH_H
#define TESTS_SIM_DRV_GRAPH_H

#include <stdbool.h>

#include "drv.h"

/* A memset: height rows of width units of unit bytes. */
struct fill {
	CUdeviceptr dst;
	size_t pitch;
	unsigned value;
	size_t unit, width, height;
};
HIDDEN CUresult fill_run(void *fill);
HIDDEN struct sim_activity fill_activity(const struct fill *fill);
HIDDEN CUresult copy_box_run(void *copy);	/* a CUDA_MEMCPY3D */
HIDDEN struct sim_activity copy_box_activity(const CUDA_MEMCPY3D *copy);
HIDDEN CUresult host_run(void *params);		/* CUDA_HOST_NODE_PARAMS */

struct CUgraphNode_st {
	const struct CUgraphNode_st *origin;	/* in a CUgraphExec: the graph's */
	work_fn *run;				/* NULL: an empty node */
	void *args;
	size_t size;
	CUgraphExec child;
	CUgraphNode *after;
	size_t num_after;
	unsigned index, state, disabled;
};

/* What the simulated libnccl does in a stream where a graph runs that has captured it; or what a node does. */
struct stream_call {
	void (*run)(const void *arg, CUstream stream);	/* NULL: activity */
	union {
		uint64_t arg[6];
		struct sim_activity activity;
	};
};

struct stream_calls {
	struct stream_call *list;
	unsigned n, runs;		/* so many with run */
};

/* Captures go on in a list, by a number of their own: an event may outlive the graph it was recorded for. */
struct CUgraph_st {
	unsigned nodes;
	CUgraphNode *list;
	size_t room;
	uint64_t capture;		/* while captured */
	CUgraph next;
	CUstream *joined;		/* other streams that are captured with the first */
	size_t num_joined;
	struct stream_calls calls;
};

struct CUgraphExec_st {
	unsigned nodes, refs;
	uint32_t id;
	struct stream_calls calls;
	struct CUgraphNode_st *list;	/* in the order in which they run */
};

HIDDEN CUresult graph_calls_add(struct stream_calls *to, const struct stream_call *list, unsigned n);
/* Adds a node, which has a copy of args, or the reference to child. */
HIDDEN CUgraphNode graph_add(CUgraph graph, work_fn *run, const void *args, size_t size, CUgraphExec child);
/* Gives a node other arguments of its kind. */
HIDDEN CUresult graph_node_set(CUgraphNode node, work_fn *run, const void *args, size_t size);
HIDDEN CUgraphNode graph_exec_node(CUgraphExec exec, CUgraphNode origin);
HIDDEN CUresult graph_after(CUgraphNode node, const CUgraphNode *after, size_t num);
/* What stands for node i of a graph without SIM_KERNELS: the same for no other node. */
static inline CUgraphNode graph_number(CUgraph graph, size_t i)
{
	return (CUgraphNode)(((uintptr_t)graph << 12) + i + 1);
}
HIDDEN void graph_free(CUgraph graph);

#endif
