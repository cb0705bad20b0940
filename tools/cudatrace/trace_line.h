/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* One line per call, as strace prints them, or a JSON object; with --tree, calls inside calls. */
#ifndef CUDATRACE_TRACE_LINE_H
#define CUDATRACE_TRACE_LINE_H
#include <stdbool.h>
#include "base/quota.h"
#include "cli/row.h"
#include "view/columns.h"

struct trace_call;
struct process_table;

/* In the order of the words of the option --color. */
#define COLOR_WORDS "auto|always|never"
enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Call after out_init().  Return true if text is to have colors: by default on a terminal, unless
 * NO_COLOR is set (https://no-color.org) or the terminal has none. */
bool color_wanted(enum color_when when);

struct trace_lines {
	/* options: what lines contain besides the call */
	int times;		/* 0: none, 1: with milliseconds, 2: with microseconds */
	bool relative, durations, stacks, entries, nested, color;
	bool unchecked;		/* also the next call */
	bool failed;		/* only failures, of which one asks who had them: a column for the process and its thread */
	unsigned long long *previous;	/* when the call of the last line returned, ns; 0 = no line yet */
	struct devices_seen seen;	/* several: they have a column */
	/* set by trace_lines_init() */
	struct field fields[28];
	int pid, tid;		/* of the last line; 0: no line yet */
	bool wider;		/* since the head was printed */
};

/* Call once, after out_init(); prints the heading in text, if there are columns.  several: more than
 * one process may be traced. */
void trace_lines_init(struct trace_lines *lines, bool several);

/* Call before the line of a call on this device: devices get a column once there are several. */
void trace_lines_see(struct trace_lines *lines, unsigned int device);

void trace_line(struct trace_lines *lines, const struct trace_call *call);

/* An inner call returns, and is recorded, before the outer one, but its line comes after it. */
struct trace_trees {
	struct trace_lines *lines;
	struct process_table *processes;
	struct trace_tree *by_tid;	/* each thread's calls */
	struct quota quota;		/* bytes of the calls */
};

/* The caller owns lines and processes. */
struct trace_trees trace_trees_init(struct trace_lines *lines, struct process_table *processes);

/* Prints an outermost call with those inside it, in the order of their entries; in pieces if there are
 * too many. */
void trace_tree_call(struct trace_trees *trees, const struct trace_call *call);

/* Call when the process ends or, with -1, when tracing does: prints its unfinished trees and frees them. */
void trace_tree_end(struct trace_trees *trees, int pid);

#endif
