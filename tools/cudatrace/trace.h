/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a record of cudatrace's probes says about a call. */
#ifndef TRACE_H
#define TRACE_H
#include <stdbool.h>
#include <stddef.h>
#include "api/cuda_fn.h"
#include "api/cuda_protos.h"
#include "abi/cudatrace.h"
#include "proc/cgroup.h"

struct kernel;
struct stack;
struct sticky_error;

/* The function's row in cuda_api.tbl, which says what it does; NULL if it has none. */
const struct cuda_fn *trace_role(const struct cuda_proto *proto);

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

/* Parses a record of a call; functions, by id, say what the probes read.  Returns false if the
 * record is truncated.  What the call points to belongs to the record and to functions. */
bool trace_call_read(struct trace_call *call, const struct trace_function *functions,
		     const void *data, size_t size);

/* Copies the call, its record and its cause, and frees the copy. */
struct trace_call *trace_call_keep(const struct trace_call *call);
void trace_call_drop(struct trace_call *call);

/* The copy's bytes on the heap. */
size_t trace_call_cost(const struct trace_call *call);

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

#endif
