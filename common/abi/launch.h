/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Counts of the probes of launches, and the records that describe the counts. */
#ifndef ABI_LAUNCH_H
#define ABI_LAUNCH_H
#include "abi/record.h"
#include "abi/shares.h"
#include "abi/slot.h"
#include "abi/stack_frames.h"

enum launch_kind { LAUNCH_KERNEL, LAUNCH_COOPERATIVE, LAUNCH_GRAPH, LAUNCH_KIND_MAX };

/* Work of a node of a graph: an enum launch_kind, or one of these. */
enum node_kind {
	NODE_COPY = LAUNCH_KIND_MAX, NODE_SET, NODE_HOST, NODE_ALLOC, NODE_FREE,
	NODE_CONDITIONAL,	/* the GPU decides what it runs, and how often */
	NODE_OTHER,
	NODE_TAKEN,		/* no node: memory that the thread allocated while its stream captured */
	NODE_OPERATION,		/* no node: an operation of NCCL, whose kernels are nodes of their own */
	NODE_KIND_MAX
};

/* Launches are counted separately by these. */
struct launch_key {
	unsigned long long program;	/* one execution of a program in a process:
					 * when it was first seen, ns */
	unsigned long long func;	/* host stub, handle, CUfunction or graph, as passed */
	unsigned long long stack;	/* a hash of the call stack, or 0 */
	unsigned int pid;
	unsigned int kind;		/* enum launch_kind */
	unsigned int generation;	/* changes when func is named anew: launches of the kernel that
					 * has it then are not those of the one that had it before */
	unsigned int device;		/* see abi/device.h */
	unsigned long long stream;	/* see abi/stream.h; 0 also if streams are not distinguished */
};

/* Per CPU. */
struct launch_count {
	unsigned long long launches, failed;
	unsigned long long impossible;	/* no GPU takes this grid or block: they failed */
	unsigned long long time;	/* of the last one, in the kernel's jiffies */
	unsigned int grid[3], block[3];	/* of the last one; 0 = unknown */
	unsigned char paired;		/* its CUfunction is known */
	unsigned char driver;		/* launched through the driver, not by a runtime call */
	unsigned char unreported;		/* its LAUNCH_FIRST was lost */
	unsigned char oversized;	/* the last one was impossible */
	unsigned int share;		/* 1 + the user's number in counts_shares */
};

/* The same in an array of LAUNCH_SLOTS elements per CPU. */
enum { LAUNCH_QUICK_BITS = 10, LAUNCH_SLOTS = 1 << LAUNCH_QUICK_BITS };

/* The only element of a CPU that a key may take, if it has no stack. */
static inline unsigned int launch_place(const struct launch_key *key)
{
	unsigned long long where = key->stream << 4 ^ (unsigned long long)key->device << 40;

	return (key->func ^ key->program ^ where) * 0x9e3779b97f4a7c15 >> (64 - LAUNCH_QUICK_BITS);
}

struct launch_slot {
	struct slot slot;
	struct launch_key key;		/* without a stack */
	struct launch_count count;
};

/* Values of launch_event.head.kind; below them are those of calls. */
enum launch_what {
	LAUNCH_FIRST = 0xfe00, /* first launch with a new launch_key: struct launch_first */
	LAUNCH_NAMED,	/* subject's name follows, or else is at address object */
	LAUNCH_TOLD,	/* the same, by a call that asks for it and makes nothing */
	LAUNCH_REGISTERED, /* one of many: subject's name is at address object */
	LAUNCH_ALIAS,	/* subject is the same kernel as object */
	LAUNCH_PAIR,	/* launching subject launched the driver function object */
	LAUNCH_UNLOADED, /* a call that began at time unloaded the owner subject */
	/* of CUDA graphs; the first two are a struct launch_node */
	LAUNCH_CAPTURED,	/* key was called on a stream of the capture subject: it did not run */
	LAUNCH_NODE,		/* object, in the graph or exec subject (0: not known), is a node of key.kind, an enum node_kind:
				 * of the kernel or graph key.func, or the memory there */
	LAUNCH_NODE_ENABLED,	/* object in the exec subject: owner is 1 or 0 */
	LAUNCH_NODE_GONE,	/* object was destroyed */
	LAUNCH_CAPTURE_BEGAN,	/* subject */
	/* these two have a stack like LAUNCH_FIRST, where the tool wants it */
	LAUNCH_CAPTURE_ENDED,	/* subject, in the graph object; 0: it failed.  owner: the graph existed */
	LAUNCH_INSTANTIATED,	/* the exec subject runs what the graph object has now; key.generation is the exec's */
	LAUNCH_CLONED,		/* the graph subject is a copy of the graph object, or if that is 0, empty */
	LAUNCH_GRAPH_GONE,	/* a call that began at time destroyed the graph or exec subject */
	LAUNCH_REPLAYED,	/* the exec subject was launched, on key.device, by a call that began at owner; of tools that do not
				 * count launches */
	LAUNCH_MADE,	/* a struct launch_made, which is no struct launch_event */
	LAUNCH_WHAT_MAX
};

enum { LAUNCH_NAME = 256, LAUNCH_LONG_NAME = 8192 };

/* So many registrations of a thread are sent with their names; of the others, which can be tens of thousands
 * when a program starts, few are launched. */
enum { LAUNCH_REGISTRATIONS = 4096 };

/* Return true if a record is one of these. */
static inline bool launch_is_record(const struct record *r)
{
	return r->kind >= LAUNCH_FIRST && r->kind < LAUNCH_WHAT_MAX;
}

struct launch_event {
	struct record head;
	struct launch_key key;		/* of LAUNCH_FIRST; the others set program and pid, and
					 * those that name subject its generation */
	unsigned long long subject, object;
	unsigned long long owner;	/* the module, library or registered binary that has
					 * subject; 0: unknown */
	unsigned long long time;	/* of the call, CLOCK_MONOTONIC, ns */
	char comm[16];			/* of the thread */
};

/* Each launch that is counted, if the tool wants that. */
struct launch_made {
	struct record head;
	unsigned long long time;	/* CLOCK_MONOTONIC, ns */
	struct launch_key key;
	unsigned int tid, own_tid;	/* own: in the program's own pid namespace */
};

struct launch_node {
	struct launch_event event;
	unsigned int grid[3], block[3];	/* 0 = unknown */
	unsigned long long bytes;	/* of a copy, memset or memory */
	unsigned int direction;		/* of a copy: enum cuda_direction */
	unsigned int unused;
};

/* A capture of launches on streams into a graph goes on: the value of its id, which is when it began, ns. */
struct capture {
	unsigned long long program, stream;	/* stream: where it began, and ends */
	unsigned long long graph;		/* that exists, and gets more nodes; else 0 */
	unsigned int share, unused;
};

/* A stream that takes part in it. */
struct capture_stream {
	unsigned long long program, stream;	/* see abi/stream.h */
	unsigned long long thread;		/* whose default stream it is; 0: it is none */
};

/* An event that was recorded in such a stream. */
struct capture_event { unsigned long long program, event; };

/* The values of both. */
struct capture_member {
	unsigned long long capture;
	unsigned int share, unused;
};

/* Elements of these tables by user. */
struct capture_shares { struct shares captures, streams, events; };

struct launch_first {
	struct launch_event event;
	unsigned long long stack[STACK_FRAMES];
};

#endif
