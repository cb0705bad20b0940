/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Rows as displayed: sorted, with names and rates. */
#ifndef LAUNCH_LINES_H
#define LAUNCH_LINES_H
#include "cudalaunchtop/launch_view.h"
#include "model/launches.h"
#include "proc/cgroup.h"

struct launch_line {
	struct launch_row row;
	const char *kernel, *kind;
	char container[CONTAINER_ID];	/* of the process; "": none */
	const char *contained;	/* the same for JSON; set by the report */
	char *address;		/* what kernel points to if it has no name */
	unsigned long long time, threads;	/* threads: of a launch */
	double interval, rate;
	bool complete;		/* set by the report: all launches of its process were seen */
};

/* Returns *n sorted lines: what was launched in the interval, or since the start if whole; with
 * idle also what was launched only before. */
struct launch_line *launch_lines(struct launch_view *v, bool whole, bool idle, size_t *n);
void launch_lines_free(struct launch_line *lines, size_t n);

/* Returns the threads of one of its launches; 0: not known. */
unsigned long long launch_threads(const struct launch_row *row);

#endif
