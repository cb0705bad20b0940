/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The records of bpf/nccl.bpf.c: a call of NCCL, or a launch of a CUDA graph, which may have captured such calls. */
#ifndef ABI_NCCL_EVENT_H
#define ABI_NCCL_EVENT_H
#include "abi/record.h"
#include "abi/shares.h"
#include "abi/stack_frames.h"

/* An ncclResult_t that is no error: a call of a nonblocking communicator goes on. */
enum { NCCL_IN_PROGRESS = 7 };

struct nccl_event {
	struct record head;		/* kind: enum cuda_id */
	unsigned long long time, start;	/* return and entry: CLOCK_MONOTONIC, ns */
	unsigned long long program;	/* see abi/record.h */
	unsigned long long code;	/* an address in the function */
	unsigned long long handle;	/* the ncclComm_t: passed, or made; 0: none.  Of a launch: the executable graph */
	unsigned long long at;		/* where the handle of what is made is stored; 0: nothing is made */
	unsigned long long hash;	/* of its ncclUniqueId; 0: it has none */
	unsigned long long count, stream;	/* as passed */
	unsigned long long capture;	/* that the call is part of: it did not run; 0: none */
	unsigned int tid, uid;
	int ret;
	int other;			/* root or peer; -1: none */
	int rank, nranks;		/* of what is made; nranks 0: not known */
	unsigned int type, op;		/* ncclDataType_t, ncclRedOp_t */
	unsigned int device;		/* see abi/device.h */
	bool replayed;			/* the launch of a CUDA graph has begun it */
	bool grouped;			/* between ncclGroupStart() and ncclGroupEnd() */
	char unused[2];
	unsigned int group, unused2;	/* group: the number of the thread's group, from 1 on, also at its end; 0: none */
	char comm[16];			/* of the thread */
	unsigned long long stack[STACK_FRAMES];
};

/* A stream that has operations: in nccl_streams.  stream is NCCL_ALL_STREAMS for what waits for a whole device. */
struct nccl_stream_key {
	unsigned long long program, stream;
	unsigned int device, unused;	/* device: see abi/device.h */
};

#define NCCL_ALL_STREAMS (~0ull)

struct nccl_stream {
	unsigned long long done;	/* what had been called before then is complete, ns */
	unsigned long long pending;	/* when that was not so of an event that was asked about, ns; 0: never */
	unsigned long long noticed;	/* when done was set, ns */
	unsigned int share, unused;	/* share: the user's number, see abi/shares.h */
};

/* An event that was recorded in such a stream: in nccl_marks. */
struct nccl_mark_key { unsigned long long program, event; };

struct nccl_mark {
	struct nccl_stream_key stream;
	unsigned long long time;	/* ns */
	unsigned int share, unused;
};

enum { NCCL_STREAMS = 16384, NCCL_MARKS = 65536 };

struct nccl_shares { struct shares streams, marks; };

#endif
