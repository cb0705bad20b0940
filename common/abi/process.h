/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A process that sent a record, in the map processes of bpf/lib/processes.bpf.h, by its id. */
#ifndef ABI_PROCESS_H
#define ABI_PROCESS_H
#include <linux/types.h>

struct process {
	__u64 program;		/* as in struct process_event */
	__u32 share;		/* the user's number in .data.processes, a struct shares */
	__u32 told;		/* the tool has reported it */
	__u64 stuck;		/* 1: it reported an error of earlier work, and nothing has succeeded since */
};

#endif
