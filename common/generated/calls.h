/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Only for tools written by scripts/new-tool: calls of any class as rows, from the records of bpf/newtool/calls.bpf.h. */
#ifndef GENERATED_CALLS_H
#define GENERATED_CALLS_H
#include <stdbool.h>
#include <stddef.h>
#include "generated/call_event.h"
#include "api/cuda_err.h"

struct stack;
struct syms;
struct helper_pool;

struct call_row {
	unsigned long long time, latency;	/* time: of the return; both in ns; latency is NO_VALUE at a
						 * USDT probe */
	struct call_args args;		/* NO_VALUE: the function has no such argument, or stored
					 * nothing there */
	unsigned long long bytes;	/* NO_VALUE: not known for this function */
	unsigned int grid[3], block[3];
	int pid, tid, ret;
	const char *comm, *layer, *func;
	const char *direction, *name;	/* NULL = not known */
	const char *error;		/* NULL: it succeeded, or the code has no name */
	const char *result;		/* "ok", the error's name, or its number */
	const struct stack *stack;
	/* what comm, name and result point to, so a copy of the row is valid only as long as it */
	struct { char comm[17], name[CALL_NAME], number[CUDA_ERR_NUMBER]; } text;
};

/* Fills the row from a record; helper processes read from the process what the record lacks.  Returns false if the record
 * is not a call but reports that a process is gone, or is malformed: a program may have written it. */
bool call_row(struct call_row *row, const void *record, size_t size, struct syms *syms, struct helper_pool *helpers);

#endif
