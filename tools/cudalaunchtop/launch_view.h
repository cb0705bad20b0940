/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What launch_report.h and launch_screen.h show of the launches, and for which period. */
#ifndef LAUNCH_VIEW_H
#define LAUNCH_VIEW_H
#include <stdbool.h>
#include "cli/top_screen.h"
#include "view/columns.h"

#define LAUNCH_SORT_WORDS "launches|total|threads|name|pid"

struct preexisting;
struct launches;
struct launch_line;

/* The widths of the columns that widen with what they have to show. */
struct launch_widths {
	bool narrow;		/* fewer columns, and narrower ones */
	bool shapes;		/* GRID and BLOCK */
	int comm, grid, block, threads;
	int name;		/* columns left for names; INT_MAX: as many as they have */
	struct name_fit *fit;	/* what is printed of the lines' names if they do not fit; or NULL */
	const struct launch_line *lines;
};

struct launch_view {
	struct launches *launches;	/* set by the tool … */
	const struct preexisting *preexisting;	/* … the target's … */
	struct containers *containers;
	bool by_process, streams, stacks, full, failed;
	bool folded;		/* all rows, a line per stack, for flame graphs */
	long rows;		/* at most this many; 0 = all in JSON, 20 in text */
	int sort;		/* index into LAUNCH_SORT_WORDS */
	struct top_view screen;	/* the tool sets who */
	/* state */
	struct devices_seen devices;	/* several: with a column; the tool sets it, too */
	bool contained;		/* a process is in a container: processes have a column */
	bool reverse;
	bool reported;		/* a block of text was already printed */
	unsigned long long began, counted;	/* CLOCK_MONOTONIC, ns */
	double interval;	/* s */
	struct launch_line *lines;	/* being drawn */
	struct launch_widths widths;	/* of their columns */
	double rate;		/* launches per second, over all lines */
};

/* Call when tracing begins. */
void launch_view_start(struct launch_view *v);

/* Ends the interval; if whole, it is all the time since the start. */
void launch_view_measure(struct launch_view *v, bool whole);

#endif
