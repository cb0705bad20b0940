/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The last operation of NCCL in a stream, on a device, or before an event: kept by bpf/lib/nccl_last.bpf.h. */
#ifndef ABI_NCCL_LAST_H
#define ABI_NCCL_LAST_H

struct nccl_last {
	unsigned long long start;	/* of the call: CLOCK_MONOTONIC, ns; 0: there is no operation */
	unsigned long long program;	/* see abi/record.h */
	unsigned long long handle;	/* the ncclComm_t */
	unsigned long long code;	/* an address in the function */
	unsigned long long count;	/* as passed */
	unsigned int func, type;	/* enum cuda_id, ncclDataType_t */
	unsigned int tid, uid;
};

/* stream is NCCL_ALL_STREAMS for a whole device.  device is that of a default stream or a whole device, see abi/device.h; another
 * stream's handle suffices.  thread is that of its per-thread default stream, or 0. */
struct nccl_last_key {
	unsigned long long program, stream;
	unsigned int device, thread;
};

struct nccl_last_of {
	struct nccl_last last;
	unsigned int share;		/* the user's number, see abi/shares.h */
	unsigned int mixed;		/* the device is unknown, and it may be several */
};

#endif
