/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* One line per call, as strace prints them, or a JSON object. */
#ifndef TRACE_LINE_H
#define TRACE_LINE_H
#include <stdbool.h>
#include "cli/out.h"
#include "cli/row.h"
#include "cudatrace/trace_columns.h"
#include "view/columns.h"

struct trace_call;

struct trace_lines {
	/* options: what the lines show besides the call */
	int times;		/* 0: none, 1: with milliseconds, 2: with microseconds */
	bool relative, durations, stacks, entries, nested, color;
	bool unchecked;		/* also the call after it */
	unsigned long long *previous;	/* when the call of the last line returned, ns; 0 = no line yet */
	struct devices_seen seen;	/* several: there is a column */
	/* set by trace_lines_init() */
	struct field fields[22];
	struct trace_columns columns;
	bool wider;		/* since the head was printed */
};

/* Call once, after out_init(); prints the heading in text, if there are columns.  several: calls of several processes
 * may come. */
void trace_lines_init(struct trace_lines *lines, bool several);

/* Call before the lines of calls on this device, which has a column once there are several. */
void trace_lines_see(struct trace_lines *lines, unsigned int device);

void trace_line(struct trace_lines *lines, const struct trace_call *call);

#endif
