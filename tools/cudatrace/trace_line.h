/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A line a call, as strace prints them, or a JSON object. */
#ifndef TRACE_LINE_H
#define TRACE_LINE_H
#include <stdbool.h>

struct trace_call;

/* What the lines have beside the call. */
struct trace_lines {
	bool times, durations, stacks, entries, nested;
	bool unchecked;		/* the call after it, too */
};

/* To be called once, after out_init(): prints the heading in text. */
void trace_lines_init(const struct trace_lines *lines);

void trace_line(const struct trace_call *call);

#endif
