/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a record of cudatrace's probes says of a call. */
#ifndef TRACE_H
#define TRACE_H
#include <stdbool.h>
#include <stddef.h>
#include "api/cuda_fn.h"
#include "api/cuda_protos.h"
#include "abi/cudatrace.h"

struct kernel;
struct stack;
struct sticky_error;

/* The function's row of cuda_api.tbl, which says what it does; NULL if it has none. */
const struct cuda_fn *trace_role(const struct cuda_proto *proto);

struct trace_call {
	const struct trace_event *event;
	const struct cuda_proto *proto;	/* the newest, until trace_program_call() */
	const struct trace_function *function;
	const unsigned long long *words;	/* event->words */
	const char *read[TRACE_READS];	/* event->read[i] bytes; NULL: not read.  Strings end. */
	const unsigned long long *frames;	/* event->head.frames */
	bool failed;
	/* set by others */
	const struct stack *stack;
	const struct kernel *kernel;	/* of a launch, if it is known */
	const struct sticky_error *cause;	/* of a failure that earlier work is the cause of */
	const char *next;	/* the call after a failure that nobody asked about */
};

/* Takes a record of a call apart; functions, by id, say what the probes read.  Returns false if the
 * record is not whole.  What the call points to is in the record and in functions. */
bool trace_call_read(struct trace_call *call, const struct trace_function *functions,
		     const void *data, size_t size);

/* A copy, with a copy of the record; the caller's to free(). */
struct trace_call *trace_call_keep(const struct trace_call *call);

/* The word of its arguments at a place, as in struct cuda_param; 0 if it was not recorded. */
static inline unsigned long long trace_word(const struct trace_call *call, unsigned char place)
{
	return place && place <= call->event->words ? call->words[place - 1] : 0;
}

/* How long it took, ns. */
static inline unsigned long long trace_duration(const struct trace_call *call)
{
	return call->event->time - call->event->start;
}

#endif
