/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The record of a call of any class that bpf/lib/calls.bpf.h sends. */
#ifndef CALL_EVENT_H
#define CALL_EVENT_H
#include "abi/record.h"
#include "cuda_roles.def"	/* CALL_ARGS */

enum { CALL_NAME = 128 /* bytes of a kernel's name, with its end: longer ones are cut */ };

/* The arguments that are printed as they were passed, by their roles in cuda_roles.tbl. */
struct call_args {
#define X(role) unsigned long long role;
	CALL_ARGS(X)
#undef X
};

/* The call stack, head.frames, follows; and the name behind it. */
struct call_event {
	struct record head;		/* its kind is an enum cuda_id */
	unsigned long long time, start;	/* of the return and of the entry: CLOCK_MONOTONIC, ns */
	struct call_args args;
	unsigned long long stored;	/* where the first argument points to, if cuda_args.out */
	unsigned long long bytes;
	unsigned long long name_at;	/* where the program has a kernel's name; 0 = there is none */
	unsigned int grid[3], block[3];	/* of a launch; 0 = not told */
	unsigned int tid;
	int ret;
	unsigned int direction;		/* of a copy: enum cuda_direction */
	unsigned short name_bytes;	/* of the name, with its end; 0, though there is one: it was
					 * not paged in, and the reader is to try */
	char comm[16];
};

#endif
