/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a record of cudatrace's probes says about a call. */
#ifndef TRACE_CALL_H
#define TRACE_CALL_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/cudatrace.h"
#include "api/cuda_fn.h"
#include "api/cuda_protos.h"
#include "proc/cgroup.h"
#include "sym/kernel_name.h"

struct cuda_args;
struct cuda_proto;
struct kernel;
struct stack;

/* If a program launches more kernels between two waits, the rest are counted, not named. */
enum { STICKY_LAUNCHES = 64 };

struct sticky_launch {
	unsigned long long func, stream;
	const struct kernel *kernel;
	unsigned long long count;
};

struct sticky_error {
	bool again;		/* it was reported before */
	int n;
	struct sticky_launch launched[STICKY_LAUNCHES];
	unsigned long long others;	/* launches that did not fit */
};

static inline void sticky_error_drop(const struct sticky_error *e)
{
	for (int i = 0; i < e->n; i++)
		kernel_put(e->launched[i].kernel);
}

struct trace_call {
	const struct trace_event *event;
	const struct cuda_proto *proto;	/* the newest, until trace_program_call() */
	const struct trace_function *function;
	const unsigned long long *words;	/* event->words */
	const char *read[TRACE_READS];	/* event->read[i] bytes or NULL; strings have their NUL */
	const unsigned long long *frames;	/* event->head.frames */
	bool failed;
	/* set by others */
	const struct stack *stack;
	const struct kernel *kernel;	/* of a launch, if known */
	const struct sticky_error *cause;	/* of a failure caused by earlier work */
	char container[CONTAINER_ID];	/* of the process; "": none */
	const char *next;	/* the call after a failure that nobody checked */
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

/* The function's row in cuda_api.tbl, which says what it does; NULL if it has none. */
const struct cuda_fn *trace_role(const struct cuda_proto *proto);

/* Parses a record of a call; functions, by id, say what the probes read.  Returns false if the
 * record is truncated.  What the call points to belongs to the record and to functions. */
bool trace_call_read(struct trace_call *call, const struct trace_function *functions,
		     const void *data, size_t size);

/* Copies the call, its record and its cause, and frees the copy. */
struct trace_call *trace_call_keep(const struct trace_call *call);
void trace_call_drop(struct trace_call *call);

/* The copy's bytes on the heap. */
size_t trace_call_cost(const struct trace_call *call);

/* Copies size bytes at this offset of what an argument points to; false if they were not read. */
bool trace_pointed(const struct trace_call *call, unsigned char place, size_t at, void *to,
		   size_t size);

/* Returns 0 if the size is not known. */
unsigned long long trace_bytes(const struct trace_call *call, const struct cuda_args *row);

/* Return true if calls of the function tell which device is whose: bpf/lib/device.bpf.h. */
bool trace_tells_device(const struct cuda_proto *proto);

/* Return true if the call says that its program uses the device it is on.  One that chooses another
 * does not: most programs begin so that use one device alone. */
bool trace_uses_device(const struct trace_call *call);

#endif
