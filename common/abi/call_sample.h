/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Where a running thread is, now and then, in or below a library of CUDA: records of bpf/lib/call_samples.bpf.h. */
#ifndef ABI_CALL_SAMPLE_H
#define ABI_CALL_SAMPLE_H
#include "abi/record.h"
#include "abi/stack_frames.h"

/* The head's kind. */
enum { CALL_SAMPLE = 0xfc00 };

/* Samples of a CPU are so far apart: not a divisor of usual periods. */
#define CALL_SAMPLE_NS 19997003ull

struct call_sample {
	struct record head;
	unsigned int tid;
	unsigned int id;		/* enum cuda_id of the launch that it is in, without a stack; CUDA_ID_MAX: the stack tells */
	unsigned long long stack[STACK_FRAMES];
};

/* Code of a process, in which a thread may be in a call of CUDA or a compiler: its libraries, and those that they call. */
enum { CALL_CODE_RANGES = 16, CALL_CODE_PROCESSES = 4096 };

struct call_code {
	unsigned long long n;
	struct { unsigned long long from, to; } range[CALL_CODE_RANGES];
};

#endif
