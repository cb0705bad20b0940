/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Report of bpf/lib/inflight.bpf.h on a thread that is in a call, or may be. */
#ifndef ABI_INFLIGHT_CALL_H
#define ABI_INFLIGHT_CALL_H
#include <stdbool.h>
#include "abi/nccl_last.h"
#include "abi/stack_unwind.h"

/* A call of NCCL: what it is about.  All zero: another call. */
struct inflight_nccl {
	unsigned long long handle;	/* the ncclComm_t, 0: none */
	unsigned long long hash;	/* of what is made: see struct nccl_event */
	unsigned long long count;
	int rank, nranks;		/* of what is made; nranks 0: not known */
	int other;			/* root or peer; -1: none */
	unsigned int type, op;		/* ncclDataType_t, ncclRedOp_t */
	unsigned int group;		/* see struct nccl_event */
	bool is_nccl;
	char unused[7];
};

struct inflight_call {
	unsigned long long id;		/* of the function */
	unsigned long long start;	/* CLOCK_MONOTONIC, ns */
	unsigned long long switches;	/* how often the thread has left the CPU */
	unsigned int tid;
	bool preexisting;			/* the thread has entered no call since tracing began: id, start and
					 * stack.from are 0 */
	unsigned int device, peer;	/* that it is on, see abi/device.h; peer: of a copy to another one */
	unsigned long long memory;	/* that it frees, or 0 */
	struct inflight_nccl nccl;
	struct nccl_last behind;	/* of NCCL, what a wait is behind; only of a tool that follows it */
	unsigned long long self;	/* the thread pointer: machine/thread.h */
	char comm[16];
	struct stack_copy stack;	/* of the process head.pid: the registers in user mode, no bytes;
					 * from: the stack pointer at the call's entry */
};

#endif
