/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Rows as displayed: sorted, with names and rates, and their columns as text, the same in blocks
 * and on the screen, narrower on a narrow terminal. */
#ifndef LAUNCH_LINE_H
#define LAUNCH_LINE_H
#include <stdio.h>
#include "cudalaunchtop/launch_view.h"
#include "cudalaunchtop/launches.h"
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

/* Chooses the columns for a line of so many, INT_MAX: of any length.  Names get what is left: GRID and
 * BLOCK go first if that is too little.  Valid as long as the lines; then launch_widths_free(). */
struct launch_widths launch_widths(const struct launch_view *v, const struct launch_line *lines, size_t n,
				   int columns);
void launch_widths_free(struct launch_widths *w);

/* Returns the columns before the name. */
int launch_columns(const struct launch_view *v, const struct launch_widths *w);

/* Print the columns without a newline. */
void launch_head(FILE *f, const struct launch_view *v, const struct launch_widths *w);
void launch_text(FILE *f, const struct launch_view *v, const struct launch_line *l,
		 const struct launch_widths *w);

#endif
