/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls, errors and times by function: the table of strace -c. */
#ifndef TRACE_SUMMARY_H
#define TRACE_SUMMARY_H

struct trace_call;

void trace_summary_add(const struct trace_call *call);

/* Prints the table, what took longest first, or a JSON object a function. */
void trace_summary_print(void);

#endif
