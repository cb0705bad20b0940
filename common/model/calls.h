/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls as rows: the part that all have, and the whole of the records of bpf/lib/calls.bpf.h. */
#ifndef MODEL_CALLS_H
#define MODEL_CALLS_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/call_event.h"
#include "api/cuda_err.h"
#include "api/cuda_fn.h"

struct stack;
struct syms;
struct helper_pool;

struct call {
	unsigned long long time, latency;	/* time: of the return; both in ns; latency is NO_VALUE at a
						 * USDT probe */
	int pid, tid, ret;
	const char *comm, *layer, *func;
	const char *error;		/* NULL: it succeeded, or the code has no name */
	const struct stack *stack;	/* set by the tool */
};

/* A call of fn, whose record e points to: it has head, time, start, tid, ret and comm, which must outlive the call. */
#define CALL_OF(e, fn) call_of(fn, &(struct call){							\
	.time = (e)->time, .latency = (e)->time - (e)->start, .pid = (e)->head.pid, .tid = (e)->tid,	\
	.ret = (e)->ret, .comm = (e)->comm })

/* Returns it with the names of its function and error, and without a latency if it has none. */
struct call call_of(const struct cuda_fn *fn, const struct call *call);

struct call_row {
	struct call call;
	struct call_args args;		/* NO_VALUE: the function has no such argument, or stored
					 * nothing there */
	unsigned long long bytes;	/* NO_VALUE: not known for this function */
	unsigned int grid[3], block[3];
	const char *direction, *name;	/* NULL = not known */
	const char *result;		/* "ok", the error's name, or its number */
	/* what comm, name and result point to, so a copy of the row is valid only as long as it */
	struct { char comm[17], name[CALL_NAME], number[CUDA_ERR_NUMBER]; } text;
};

/* Fills the row from a record; helper processes read from the process what the record lacks.  Returns false if the record
 * is not a call but reports that a process is gone, or is malformed: a program may have written it. */
bool call_row(struct call_row *row, const void *record, size_t size, struct syms *syms, struct helper_pool *helpers);

#endif
