/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Work of cudatrace's probes for each function, and the records they send. */
#ifndef ABI_CUDATRACE_H
#define ABI_CUDATRACE_H
#include "abi/record.h"
#include "abi/stack_frames.h"

enum {
	TRACE_WORDS = 24,	/* of arguments: CALL_REGISTERS (machine/call.h), then the stack */
	TRACE_READS = 8,	/* reads of the program's memory for one call */
	TRACE_VALUE = 256,	/* bytes of a value */
	TRACE_STRING = 256,	/* bytes of a string with its '\0' */
	TRACE_LONG_STRING = 4096,
};

/* How to read the program's memory at the address in a word of the arguments. */
enum trace_how {
	TRACE_IN,		/* a value that the caller stored there */
	TRACE_OUT,		/* a value that the function stores on success */
	TRACE_IN_STRING,
	TRACE_OUT_TEXT,		/* a string that the function stores there on success */
	TRACE_OUT_STRING,	/* a pointer to one */
	TRACE_RETURN_STRING,	/* a string at the address that the function returns */
};

struct trace_read {
	unsigned char word;	/* index, from 0 */
	unsigned char how;	/* enum trace_how */
	unsigned short size;	/* bytes of a value */
};

enum {
	TRACE_SHOWN = 1,	/* selected by the user; else only needed for others */
	TRACE_HIDES = 2,	/* excluded by the user: no record of it or of calls inside it */
	TRACE_ERROR = 4,	/* returns a cudaError_t, CUresult or ncclResult_t of its own */
	TRACE_ALWAYS = 8,	/* record its successes even if only failures are printed */
	TRACE_NAMES = 16,	/* its strings are kernel names: longer, perhaps not present */
	TRACE_HELD = 32,	/* record it even if it hides: it changes held memory */
	TRACE_HELPER = 64,	/* probed only to find the device of other calls, or what is captured */
	TRACE_RUNTIME = 128,	/* of the runtime */
	TRACE_NCCL = 256,	/* of NCCL: the calls of CUDA inside it are no part of it */
	TRACE_FIRST = 512,	/* a launch: record the first one of each kernel, which may be others, too */
	TRACE_UNLOADS = 1024,	/* unloads kernels */
	TRACE_PLACED = 2048,	/* its arguments name a device otherwise than by a stream or context: see the map places */
};

/* One per function, by id: those of cuda_protos.h, then the forms that older runtimes have. */
struct trace_function {
	unsigned short id;	/* in records: the first form's */
	unsigned char words, nreads;
	unsigned short flags;
	unsigned char handle;	/* place of its stream or context, as in struct cuda_args; 0: none */
	unsigned short handle_at;	/* not 0: the stream is at this byte of the handle's target */
	unsigned short role;	/* 1 + its id in cuda_api.tbl; 0: none */
	unsigned short pending;	/* this result is no failure: cudaErrorNotReady, CUDA_ERROR_NOT_READY, ncclInProgress */
	struct trace_read reads[TRACE_READS];
};

/* The series of calls that are counted: abi/aggregate_group.h. */
enum { TRACE_SUCCEEDED, TRACE_FAILED };

/* Values of trace_event.head.kind. */
enum trace_what {
	TRACE_CALL,	/* a call, sent at its return */
	TRACE_ENTER,	/* a call, sent at its entry */
	TRACE_UNFINISHED,	/* a call in flight when its thread ended */
};

/* Followed by the arguments (words of 64 bits), the memory that was read, each item aligned to 8 bytes,
 * and the call stack. */
struct trace_event {
	struct record head;
	unsigned long long time;	/* CLOCK_MONOTONIC, ns */
	unsigned long long start;	/* of the call */
	unsigned long long ret;
	unsigned int tid;
	unsigned short id;
	unsigned char depth : 7;	/* number of shown calls that it is nested in */
	unsigned char inner : 1;	/* it is part of a call that changes held memory */
	unsigned char words;
	unsigned short read[TRACE_READS];	/* bytes of each, of a string with its '\0'; 0: not
						 * due now, or could not be read */
	char comm[16];			/* of the thread */
	unsigned int device;		/* see abi/device.h */
	unsigned short captured;	/* 1: the call is part of a CUDA graph, and did not run */
	unsigned short part;		/* 1: it is part of a shown call of CUDA, or of NCCL if it is one of NCCL's */
};

#endif
