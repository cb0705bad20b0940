/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls, errors and times by function and device, like the table of strace -c. */
#ifndef TRACE_SUMMARY_H
#define TRACE_SUMMARY_H
#include "abi/device.h"
#include "view/columns.h"

struct stack_sums;
struct trace_call;

struct trace_summary {		/* all zero: no calls */
	struct summary_row *rows[DEVICES + 1];	/* of each device, by id; NULL: no calls */
	struct devices_seen seen;	/* several: there is a column; the tool may set it, too */
};

/* uses: the call says that its program uses the device that it is on. */
void trace_summary_add(struct trace_summary *s, const struct trace_call *call, bool uses);

/* Prints the table, longest total time first, or one JSON object per function. */
void trace_summary_print(const struct trace_summary *s);

/* Prints the time in each function by call stack, ns, the longest first. */
void trace_summary_stacks(const struct stack_sums *sums);

void trace_summary_free(struct trace_summary *s);

#endif
