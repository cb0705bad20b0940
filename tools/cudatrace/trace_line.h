/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* One line per call, as strace prints them, or a JSON object. */
#ifndef TRACE_LINE_H
#define TRACE_LINE_H
#include <stdbool.h>
#include "cli/out.h"
#include "cli/row.h"
#include "cudatrace/trace_columns.h"

struct trace_call;

struct trace_lines {
	/* options: what the lines show besides the call */
	int times;		/* 0: none, 1: with milliseconds, 2: with microseconds */
	bool relative, durations, stacks, entries, nested, color;
	bool unchecked;		/* also the call after it */
	unsigned long long *previous;	/* when the call of the last line returned, ns; 0 = no line yet */
	/* set by trace_lines_init() */
	struct field fields[21];
	struct trace_columns columns;
};

/* Call once, after out_init(); prints the heading in text, if there are columns.  several: calls of several processes
 * may come. */
void trace_lines_init(struct trace_lines *lines, bool several);

void trace_line(struct trace_lines *lines, const struct trace_call *call);

#endif
