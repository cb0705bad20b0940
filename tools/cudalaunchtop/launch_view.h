/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Launches as rows of text, of JSON or on the terminal's screen. */
#ifndef LAUNCH_VIEW_H
#define LAUNCH_VIEW_H
#include <stdbool.h>
#include "cudalaunchtop/launches.h"
#include "cli/top_view.h"

#define LAUNCH_SORT_WORDS "launches|total|threads|name|pid"

struct launch_view {
	bool by_process, stacks, full, failed;
	long rows;		/* at most so many; 0 = all in JSON, 20 in text */
	int sort;		/* index into LAUNCH_SORT_WORDS */
	struct top_view screen;	/* who is the tool's to set */
	/* state */
	bool reverse;
	unsigned long long began, counted;	/* CLOCK_MONOTONIC, ns */
	double interval;	/* s */
};

/* Tracing begins. */
void launch_view_start(struct launch_view *v);

/* Ends the interval and prints what was launched in it, or, whole, since the start. */
void launch_view_report(struct launch_view *v, bool whole);

/* The same on the screen, unless it is paused; and what a key does there: false if it is to
 * end. */
void launch_view_update(struct launch_view *v);
bool launch_view_keys(struct launch_view *v);

#endif
