/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls of any class as rows, from the records of bpf/lib/calls.bpf.h. */
#ifndef CALLS_H
#define CALLS_H
#include <stdbool.h>
#include "abi/call_event.h"

struct stack;
struct syms;
struct vm_reader;

struct call_row {
	unsigned long long time, latency;	/* of the return; both ns */
	struct call_args args;		/* NO_VALUE: the function has no such argument, or nothing
					 * was stored there */
	unsigned long long bytes;	/* NO_VALUE: the function tells none */
	unsigned int grid[3], block[3];
	int pid, tid, ret;
	const char *comm, *layer, *func;
	const char *direction, *name;	/* NULL = not told */
	const char *error;		/* NULL: it succeeded, or the code has no name */
	const char *result;		/* "ok", the error's name, or its number */
	const struct stack *stack;
	/* what comm, name and result point to: a copy of the row is good while the row is */
	struct { char comm[17], name[CALL_NAME], number[16]; } text;
};

/* Fills the row from a record; reader reads what the record lacks from the process.  Return false if
 * the record is no call but tells that a process has gone. */
bool call_row(struct call_row *row, const struct call_event *event, struct syms *syms,
	      struct vm_reader *reader);

#endif
