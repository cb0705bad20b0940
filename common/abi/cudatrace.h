/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What cudatrace's probes need to know about each function, and the records they send. */
#ifndef CUDATRACE_H
#define CUDATRACE_H
#include "abi/record.h"
#include "abi/stack_frames.h"

enum {
	TRACE_WORDS = 24,	/* of arguments: 6 from registers, the rest from the stack */
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
	TRACE_SHOWN = 1,	/* selected by the user; else probed only for what it reveals */
	TRACE_HIDES = 2,	/* excluded by the user: no record of it or of calls inside it */
	TRACE_ERROR = 4,	/* returns a cudaError_t or CUresult of its own */
	TRACE_ALWAYS = 8,	/* record its successes even if only failures are printed */
	TRACE_NAMES = 16,	/* its strings are kernel names: longer, perhaps not present */
	TRACE_HELD = 32,	/* record it even if it hides: it changes what memory is held */
	TRACE_ASIDE = 64,	/* probed only to learn of devices */
	TRACE_RUNTIME = 128,	/* of the runtime */
};

/* One per function, by id. */
struct trace_function {
	unsigned char words, nreads, flags;
	unsigned char handle;	/* place of the stream or context that it works on, as in struct
				 * cuda_args; 0: it has none */
	unsigned short handle_at;	/* not 0: the stream is at this byte of what handle points to */
	unsigned short role;	/* 1 + its id in cuda_api.tbl; 0: it has none */
	struct trace_read reads[TRACE_READS];
};

/* Values of trace_event.head.kind. */
enum trace_what {
	TRACE_CALL,	/* a call, sent at its return */
	TRACE_ENTER,	/* a call, sent at its entry */
	TRACE_LEFT,	/* a call that was running when its thread ended */
};

/* Followed by the arguments (64-bit words, as many as words says), the memory that was read, each
 * item aligned to 8 bytes, and the call stack. */
struct trace_event {
	struct record head;
	unsigned long long time;	/* CLOCK_MONOTONIC, ns */
	unsigned long long start;	/* of the call */
	unsigned long long ret;
	unsigned int tid;
	unsigned short id;
	unsigned char depth : 7;	/* number of shown calls that it is nested in */
	unsigned char inner : 1;	/* it is part of a call that changes what memory is held */
	unsigned char words;
	unsigned short read[TRACE_READS];	/* bytes of each, of a string with its '\0'; 0: not
						 * due now, or could not be read */
	char comm[16];			/* of the thread */
	unsigned int device, unused;	/* device: that it works on, see abi/device.h */
};

/* CUDA's status for "not yet", which is no failure (cudaErrorNotReady, CUDA_ERROR_NOT_READY). */
enum { TRACE_NOT_READY = 600 };

#endif
