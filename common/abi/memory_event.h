/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The records of the tools that track memory. */
#ifndef MEMORY_EVENT_H
#define MEMORY_EVENT_H
#include "abi/record.h"
#include "abi/stack_frames.h"

/* The device or context that a thread uses: 0 = it was not seen to choose one; MEMORY_DEVICE + n =
 * device n of the runtime; otherwise a CUcontext. */
#define MEMORY_DEVICE	(1ull << 63)
#define MEMORY_NOWHERE	1ull	/* it left one for another, unknown one */

struct memory_event {
	struct record head;		/* kind: enum cuda_id */
	unsigned long long time, start;	/* return and entry: CLOCK_MONOTONIC, ns */
	unsigned long long ptr;		/* address or handle; 0 if the call failed */
	unsigned long long size;	/* bytes; 0 = unknown */
	unsigned long long arg2;	/* CUDA_MAP: the handle; CUDA_RESET: what is reset */
	unsigned long long location;
	unsigned int tid;
	int ret;
	char comm[16];
	unsigned long long stack[STACK_FRAMES];
};

#endif
