/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What is shown of the launches, and of which time: for launch_report.h and launch_screen.h. */
#ifndef LAUNCH_VIEW_H
#define LAUNCH_VIEW_H
#include <stdbool.h>
#include "cli/top_view.h"

#define LAUNCH_SORT_WORDS "launches|total|threads|name|pid"

struct launches;

struct launch_view {
	struct launches *launches;	/* the tool's to set */
	bool by_process, stacks, full, failed;
	long rows;		/* at most so many; 0 = all in JSON, 20 in text */
	int sort;		/* index into LAUNCH_SORT_WORDS */
	struct top_view screen;	/* who is the tool's to set */
	/* state */
	bool reverse;
	bool reported;		/* a block of text is printed already */
	unsigned long long began, counted;	/* CLOCK_MONOTONIC, ns */
	double interval;	/* s */
	struct launch_line *lines;	/* that are drawn */
	double rate;		/* launches a second, of all that are drawn */
};

/* Tracing begins. */
void launch_view_start(struct launch_view *v);

/* Ends the interval: whole is all the time since the start. */
void launch_view_measure(struct launch_view *v, bool whole);

#endif
