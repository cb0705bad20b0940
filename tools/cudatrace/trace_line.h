/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* One line per call, as strace prints them, or a JSON object. */
#ifndef TRACE_LINE_H
#define TRACE_LINE_H
#include <stdbool.h>
#include <stdio.h>
#include "base/quota.h"
#include "cli/out.h"
#include "cli/row.h"
#include "view/device_field.h"

struct field;
struct trace_call;
struct users;

/* In the order of the words of the option --color. */
#define COLOR_WORDS "auto|always|never"
enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Call after out_init().  Return true if text on standard output is to have colors: by default on a terminal, unless
 * NO_COLOR is set (https://no-color.org) or the terminal has none. */
bool color_wanted(enum color_when when);

struct trace_columns {		/* of the last line; starts zeroed */
	bool some;
	int pid, tid;
};

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

struct trace_trees {
	struct trace_lines *lines;	/* how to print calls; owned by the caller */
	struct users *users;			/* of the processes; likewise */
	struct trace_tree *by_tid;		/* each thread's calls; NULL at first */
	struct quota quota;	/* bytes of the calls; as trace_tree_quota() at first */
};

/* Call once, after out_init(); prints the heading in text, if there are columns.  several: calls of several processes
 * may come. */
void trace_lines_init(struct trace_lines *lines, bool several);

/* Call before the lines of calls on this device, which has a column once there are several. */
void trace_lines_see(struct trace_lines *lines, unsigned int device);

void trace_line(struct trace_lines *lines, const struct trace_call *call);

struct quota trace_tree_quota(void);

/* Prints the call and those inside it, in the order of their entries, once it is complete.
 * If there are too many, they are printed in pieces. */
void trace_tree_call(struct trace_trees *trees, const struct trace_call *call);

/* Call when the process ends or, with -1, when tracing does: prints what is left and frees it. */
void trace_tree_end(struct trace_trees *trees, int pid);

#endif
