/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The record that bpf/lib/calls.bpf.h sends for a call of any class. */
#ifndef ABI_CALL_EVENT_H
#define ABI_CALL_EVENT_H
#include "abi/record.h"
#include "cuda_roles.def"	/* CALL_ARGS */

enum { CALL_NAME = 128 /* bytes of a kernel's name with its '\0'; longer ones are cut */ };

/* The arguments printed as they were passed, by their roles in cuda_roles.tbl. */
struct call_args {
#define X(role) unsigned long long role;
	CALL_ARGS(X)
#undef X
};

/* Followed by the call stack (head.frames), then the name. */
struct call_event {
	struct record head;		/* kind: enum cuda_id */
	unsigned long long time, start;	/* return and entry: CLOCK_MONOTONIC, ns */
	struct call_args args;
	unsigned long long stored;	/* at the address in the first argument, if cuda_args.out */
	unsigned long long bytes;
	unsigned long long name_at;	/* address of a kernel's name; 0 = no name */
	unsigned int grid[3], block[3];	/* of a launch; 0 = unknown */
	unsigned int tid;
	int ret;
	unsigned int direction;		/* of a copy: enum cuda_direction */
	unsigned short name_bytes;	/* of the name, with its '\0'; 0 although name_at is set:
					 * it was not paged in, so the reader must read it */
	char comm[16];
};

#endif
