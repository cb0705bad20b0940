/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The communicators of NCCL by program: their hash, rank and size, as in NCCL's own messages, and what was called in them. */
#ifndef NCCL_COMMUNICATORS_H
#define NCCL_COMMUNICATORS_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>
#include "api/cuda_fn.h"
#include "base/hash.h"
#include "base/log2_hist.h"
#include "base/quota.h"
#include "nccl/comm_peers.h"

/* The functions that a tool of communicators traces, and those whose returns it needs. */
#define NCCL_CLASSES \
	(1u << CUDA_OPERATION | 1u << CUDA_COMM | 1u << CUDA_GROUP | 1u << CUDA_ASK | CUDA_REPLAYS | CUDA_GRAPH_FLOW)
#define NCCL_RETURN_CLASSES (~(1u << CUDA_EVENT | 1u << CUDA_ASK))

/* So many collectives can the first rank be ahead of the last one for them to be compared. */
enum { MEETINGS = 256 };

struct captures;
struct meeting;
struct nccl_event;
struct graph_kind;
struct nccl_program;
struct open_group;
struct probes;
struct process_event;
struct record;

/* Operations that were begun.  A captured call begins none; each launch of its graph does. */
struct comm_tally {
	unsigned long long operations, failed;
	unsigned long long replayed;	/* of operations: by launches of graphs */
	unsigned long long bytes;	/* of the values of those that have not failed */
	/* Of collectives that all ranks have begun, in communicators that were seen being made: how many, in how many this
	 * rank came last, and how long after the first one, summed up, ns. */
	unsigned long long met, came_last, late;
};

/* An operation that was begun. */
struct comm_op {
	unsigned long long start, time;	/* entry and return of the call, ns */
	unsigned long long number;	/* among the collectives or messages of the rank, from 1 on */
	unsigned long long count, stream;	/* as passed */
	int func;			/* enum cuda_id */
	int other;			/* root or peer; -1: none */
	unsigned int type, op;		/* ncclDataType_t, ncclRedOp_t */
	unsigned int device, tid;
	unsigned int group;		/* of the thread; 0: none */
	bool message;
	bool replayed;			/* by the launch of a graph */
};

enum { RECENT = 256 };

/* One rank's part. */
struct communicator {
	unsigned long long handle;	/* the ncclComm_t */
	unsigned long long hash;	/* 0: not known */
	int rank, nranks;		/* nranks 0: neither is known */
	bool ended;
	bool whole;			/* it was seen being made: tallies are since then, else since tracing began */
	int pid;
	unsigned user, uid;		/* user: see struct quota; uid: of the thread that called last */
	unsigned long long program;	/* see abi/record.h */
	unsigned long long made;	/* when the first call that was seen returned, ns; 0: none was */
	int tid;			/* of the thread that called last; 0: none was seen */
	char comm[16];			/* its name */
	unsigned int device;		/* of the last operation: see abi/device.h */
	int func;			/* the last operation's enum cuda_id; -1: none yet */
	unsigned long long time;	/* when that began, ns */
	unsigned long long collectives;	/* operations of all ranks, without messages from one to another */
	struct comm_tally total, before;	/* before: as of the last communicators_interval() */
	unsigned long long sizes[HIST_ROWS];	/* of the operations since then, in bytes */
	struct comm_op *recent;		/* the last RECENT collectives, the one of each number at number % RECENT; or NULL */
	struct comm_op message;		/* the last message; its number is 0: none, or none are kept */
	struct comm_peers peers;	/* how many messages there were, if recent is not NULL */
	/* private */
	const struct nccl_program *of;	/* NULL: it has ended */
	unsigned long long unknown;	/* the program's launches of unknown graphs before it */
	struct open_group *group;	/* that it was last called in, until its end; or NULL */
	LIST_ENTRY(communicator) in_group;
	struct meeting *meeting;
	unsigned long long starts[MEETINGS];	/* when its last collectives began, by number, ns */
	unsigned long long computed;	/* the hash by its id */
	unsigned long long looked;	/* when it was last looked for in the program, ns */
	unsigned long long code;	/* an address in the function that was called last */
	bool read;			/* it was found there */
	LIST_ENTRY(communicator) in_meeting;
	struct communicator *next;	/* of those that have ended */
	UT_hash_handle hh;
};

/* Operations that one record has begun. */
struct comm_calls {
	/* Of a launch the last one; its count NO_VALUE, its other -1: they differ. */
	const struct nccl_event *event;
	unsigned long long n, bytes;	/* n may be 0; bytes: of all values; NO_VALUE: none */
	/* Of a launch that is handed over by kinds of operations: see communicators_launch(). */
	unsigned kinds, left;		/* left: after this one */
};

/* m: their communicator. */
typedef void comm_fn(void *ctx, const struct communicator *m, const struct comm_calls *calls);

/* Starts by communicators_init(). */
struct communicators {
	struct probes *probes;		/* to find libnccl in a process, and to read its memory */
	bool keeps_ended;		/* until communicators_interval(); else until the next call */
	bool keeps_recent;
	unsigned long long least;	/* of large graphs operations on less bytes are left out */
	bool outdated;			/* a libnccl before 2.27 was seen: the hash of communicators may be another one */
	struct quota quota;		/* of bytes */
	struct budget graph_time;	/* of the records of graphs, and of launches */
	struct budget apart_time;	/* of launches that are handed over one by one */
	unsigned long long unknown;	/* launches of graphs that are not known, by programs with communicators or without */
	unsigned long long unfollowed;	/* launches of graphs that are not followed */
	unsigned long long lost_nodes;	/* of graphs; of programs that have ended */
	struct nccl_program *programs;
	struct meeting *meetings;
	struct communicator *ended;
};

/* whole: no other user is traced. */
void communicators_init(struct communicators *c, struct probes *probes, bool whole);

/* Return true if a record is a call of NCCL, or a launch of a graph. */
bool nccl_event_is_right(const struct nccl_event *e, size_t size);

/* Return true if it is a launch of a graph. */
bool nccl_event_is_launch(const struct nccl_event *e);

/* Return true if the call has failed; one that goes on has not. */
bool nccl_event_failed(const struct nccl_event *e);

/* Returns the bytes of the values of a call; NO_VALUE if it has none. */
unsigned long long nccl_event_bytes(const struct nccl_event *e);

/* Handles a call of NCCL; returns the communicator that it is about, after it, also one that has ended by it: until the next
 * call.  NULL if there is none, or too many.  May read the process's memory. */
const struct communicator *communicators_call(struct communicators *c, const struct nccl_event *e);

/* Handles a launch of a graph: it begins the operations whose calls the graph has captured.  Calls
 * fn, which may be NULL, for each of them; if they are more than LAUNCH_APART, or the user launches
 * too many, for all together that are the same function in a communicator, with the same type and
 * operator. */
void communicators_launch(struct communicators *c, const struct nccl_event *launch, comm_fn *fn,
			  void *ctx);

enum { LAUNCH_APART = 64 };

/* Handles a record of how a graph is made (abi/launch.h); others are ignored. */
void communicators_graph(struct communicators *c, const struct record *record, size_t size);

/* Handles any record of the probes of NCCL, those that are not of NCCL or a graph being ignored.  fn as above, also for calls:
 * m may be NULL. */
void communicators_record(struct communicators *c, struct captures *captures, const void *data, size_t size,
			  comm_fn *fn, void *ctx);

/* Returns how many collectives it has begun less than the rank that has begun the most, of those that are traced; NO_VALUE if
 * they were not seen from the beginning. */
unsigned long long communicator_behind(const struct communicator *m);

/* Return true if the program has launched unknown graphs: they may have operations of it. */
bool communicator_has_unknown(const struct communicator *m);

/* Retries communicators whose hash was not yet readable. */
void communicators_look(struct communicators *c);

/* Returns a collective by its number; NULL if it was not begun, or is not kept any more. */
const struct comm_op *communicator_collective(const struct communicator *m, unsigned long long number);

/* Returns the last operation; NULL: there is none, or none are kept. */
const struct comm_op *communicator_last(const struct communicator *m);

/* Calls fn for each that there is, and for those that have ended and are kept. */
void communicators_each(const struct communicators *c, void (*fn)(void *ctx, const struct communicator *m), void *ctx);

/* Begins an interval: forgets those that have ended. */
void communicators_interval(struct communicators *c);

/* Call when a record of a call was lost, of whichever communicator: those that exist cannot be compared any more. */
void communicators_lost(struct communicators *c);

/* Call when a program has ended.  Return true if it had communicators. */
bool communicators_ended(struct communicators *c, const struct process_event *e);

/* Says what is not known of graphs, if something is not. */
void communicators_warn(const struct communicators *c);

void communicators_free(struct communicators *c);

#endif
