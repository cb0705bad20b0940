/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A call, as recorded by cudatrace's probes. */
#ifndef CUDATRACE_TRACE_CALL_H
#define CUDATRACE_TRACE_CALL_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/cudatrace.h"
#include "api/cuda_fn.h"
#include "api/cuda_protos.h"
#include "proc/cgroup.h"
#include "kernels/kernel_name.h"

struct stack;

struct sticky_launch {
	const char *copy;	/* the function, of an asynchronous copy; NULL: a launch */
	unsigned long long func, stream;
	const struct kernel *kernel;
	const struct stack *stack;	/* as the call's */
	unsigned long long count;
	unsigned long long last;	/* number of the last of these calls, of the process's work */
};

/* The cause of an error that a call only reports: the launches since the last wait.  Launches that do
 * not fit are counted, not named. */
enum { STICKY_LAUNCHES = 64 };

struct sticky_error {
	bool again;		/* it was reported before */
	int n;
	struct sticky_launch launched[STICKY_LAUNCHES];
	unsigned long long others;	/* launches that did not fit */
};

struct trace_call {
	const struct trace_event *event;
	const struct cuda_proto *proto;	/* the newest, until trace_execution_call() */
	const struct trace_function *function;
	const unsigned long long *words;	/* event->words */
	const char *read[TRACE_READS];	/* event->read[i] bytes or NULL; strings have their NUL */
	const unsigned long long *frames;	/* event->head.frames */
	bool failed;
	/* set after trace_call_read() */
	const struct stack *stack;
	const struct kernel *kernel;	/* of a launch, if known */
	bool first;		/* the process launches the kernel for the first time */
	bool late;		/* … since tracing began: it may have done so before */
	enum kernel_style names;	/* of kernels in text and timelines */
	const struct sticky_error *cause;	/* of a failure caused by earlier work */
	char container[CONTAINER_ID];	/* of the process; "": none */
	const char *next;	/* the call after a failure whose error was not checked */
	unsigned long long count, span;	/* how many failures it stands for, of which it is the last, and since when, ns; 0: itself */
};

/* The argument word at a place, as in struct cuda_param; 0 if it was not recorded. */
static inline unsigned long long trace_word(const struct trace_call *call, unsigned char place)
{
	return place && place <= call->event->words ? call->words[place - 1] : 0;
}

/* The call's duration in ns. */
static inline unsigned long long trace_duration(const struct trace_call *call)
{
	return call->event->time - call->event->start;
}

/* The function's row in cuda_api.tbl, or NULL. */
const struct cuda_fn *trace_role(const struct cuda_proto *proto);

/* Parses a record of a call.  functions, by id: what the probes read.  Returns false if the record is
 * truncated.  The call points into the record and into functions. */
bool trace_call_read(struct trace_call *call, const struct trace_function *functions,
		     const void *data, size_t size);

/* Copy the call with its record and cause, and free the copy. */
struct trace_call *trace_call_keep(const struct trace_call *call);
void trace_call_drop(struct trace_call *call);

/* The copy's bytes on the heap. */
size_t trace_call_cost(const struct trace_call *call);

/* Releases the names of the kernels. */
void sticky_error_put(const struct sticky_error *e);

/* Copies size bytes at this offset of an argument's target; false if they were not read. */
bool trace_target(const struct trace_call *call, unsigned char place, size_t at, void *to,
		  size_t size);

/* ipc_hash_of() the handle that the call makes or opens; 0 if it was not read. */
unsigned long long trace_ipc(const struct trace_call *call, const struct cuda_args *row);

/* The bytes that the call allocates, maps or unmaps, as in bpf/lib/bytes.bpf.h; 0 if unknown. */
unsigned long long trace_bytes(const struct trace_call *call, const struct cuda_args *row);

#endif
