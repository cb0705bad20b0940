/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints the idle gaps of an interval: for each device of a process how it spent its time, and what threads did while it
 * waited for them. */
#ifndef CUDALAUNCHTOP_GAP_VIEW_H
#define CUDALAUNCHTOP_GAP_VIEW_H
#include <stdbool.h>

struct gaps;
struct process_table;

struct gap_view {
	const struct gaps *gaps;
	struct process_table *processes;
	bool folded;			/* a line for each stack, with nanoseconds */
	long rows;			/* of a device, at most; 0: all in JSON, 20 in text */
	unsigned long long since, now;	/* CLOCK_MONOTONIC, ns: the interval */
	bool reported;			/* a block was already printed */
};

void gap_view(struct gap_view *v);

#endif
