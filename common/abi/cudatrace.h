/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What cudatrace's probes are told of each function, and the records that they send. */
#ifndef CUDATRACE_H
#define CUDATRACE_H
#include "abi/record.h"
#include "abi/stack_frames.h"

enum {
	TRACE_WORDS = 24,	/* of arguments: 6 registers, the rest from the stack */
	TRACE_READS = 8,	/* places of the program's memory that are read for one call */
	TRACE_VALUE = 256,	/* bytes of a value that is read */
	TRACE_STRING = 256,	/* bytes of a string, with its end */
	TRACE_LONG_STRING = 4096,
};

/* Something to be read of the program's memory, at the address that is in a word of the
 * arguments. */
enum trace_how {
	TRACE_IN,		/* a value that the caller has put there */
	TRACE_OUT,		/* a value that the function stores, if it succeeds */
	TRACE_IN_STRING,
	TRACE_OUT_TEXT,		/* a string that the function stores there, if it succeeds */
	TRACE_OUT_STRING,	/* a pointer to one */
	TRACE_RETURN_STRING,	/* at the address that the function returns */
};

struct trace_read {
	unsigned char word;	/* counted from 0 */
	unsigned char how;	/* enum trace_how */
	unsigned short size;	/* bytes of a value */
};

enum {
	TRACE_SHOWN = 1,	/* asked for by the user: else it is probed for what else it tells */
	TRACE_HIDES = 2,	/* taken out by the user: no record of it, and none of calls inside */
	TRACE_ERROR = 4,	/* returns a cudaError_t or CUresult of its own */
	TRACE_ALWAYS = 8,	/* also its successes are wanted where failures are printed alone */
	TRACE_NAMES = 16,	/* its strings are the names of kernels: longer, and perhaps not there */
};

/* One a function, by id. */
struct trace_function {
	unsigned char words, nreads, flags, pad;
	struct trace_read reads[TRACE_READS];
};

/* In trace_event.head.kind. */
enum trace_what {
	TRACE_CALL,	/* a call, at its return */
	TRACE_ENTER,	/* a call, at its entry */
	TRACE_LEFT,	/* a call that the thread was in when it ended */
};

/* It is followed by words 64-bit words of arguments; what was read, each from a multiple of 8
 * bytes on; and the call stack, in which a frame of 0 is none. */
struct trace_event {
	struct record head;
	unsigned long long time;	/* CLOCK_MONOTONIC, ns */
	unsigned long long start;	/* of the call */
	unsigned long long ret;
	unsigned int tid;
	unsigned short id;
	unsigned char depth;		/* of how many shown calls it is a part */
	unsigned char words;
	unsigned short read[TRACE_READS];	/* bytes of each; of a string with its end; 0: not
						 * to be read now, or it could not be */
	char comm[16];			/* of the thread */
};

/* What CUDA returns for "not yet": no failure (cudaErrorNotReady, CUDA_ERROR_NOT_READY). */
enum { TRACE_NOT_READY = 600 };

#endif
