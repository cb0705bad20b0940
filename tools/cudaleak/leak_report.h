/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* cudaleak's reports: on all processes, and on one that exited. */
#ifndef LEAK_REPORT_H
#define LEAK_REPORT_H
#include "cudaleak/leak_screen.h"

struct preexisting;
struct filter;

struct leak_report {
	/* set by the tool */
	struct leak_view view;
	struct leak_screen screen;	/* its view and memory: these two */
	struct memory *memory;
	struct preexisting *preexisting;
	const struct filter *selected;	/* processes */
	unsigned long long allocs, frees;	/* that were recorded */
	/* state */
	long reports;
	bool exits;		/* a process that exited was reported */
};

/* Makes the report of an interval, on the screen if it is open. */
void leak_report_interval(struct leak_report *r);

/* Reports on a process that exited at this time (CLOCK_MONOTONIC, ns). */
void leak_report_exit(struct leak_report *r, const struct mem_process *process, unsigned long long now);

/* Closes the screen and makes the report at the end; counted_out: the last one was that of an
 * interval. */
void leak_report_end(struct leak_report *r, bool counted_out);

#endif
