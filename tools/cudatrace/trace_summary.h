/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls, errors and times by function and device, like the table of strace -c. */
#ifndef CUDATRACE_TRACE_SUMMARY_H
#define CUDATRACE_TRACE_SUMMARY_H
#include "abi/device.h"
#include "view/columns.h"

struct process_table;
struct stack_sums;

enum { SUMMARY_DEVICES = DEVICES + 2, SUMMARY_NONE = SUMMARY_DEVICES - 1 };

struct trace_summary {		/* all zero but processes: no calls */
	struct summary_row *rows[SUMMARY_DEVICES];	/* of each device or DEVICE_NONE, by id; NULL: no calls */
	struct process_table *processes;	/* the session's */
	struct devices_seen seen;	/* several: they have a column; the tool may set it, too */
};

/* Calls of a function, less than cuda_protos_n, on a device by a process. */
struct trace_calls {
	unsigned int id, device;
	unsigned int pid;	/* with its name; 0: not known */
	const char *comm;
	unsigned long long n, errors, total, least, most;	/* ns */
};

/* uses: they show that their program uses its device. */
void trace_summary_add(struct trace_summary *s, const struct trace_calls *calls, bool uses);

/* Prints the table, longest total time first, or one JSON object per function. */
void trace_summary_print(const struct trace_summary *s);

/* Prints the time in each function by call stack, ns, the longest first. */
void trace_summary_stacks(const struct stack_sums *sums);

void trace_summary_free(struct trace_summary *s);

#endif
