/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Rows as displayed: sorted, with names and rates, and their columns as text, the same in blocks
 * and on the screen, narrower on a narrow terminal. */
#ifndef LAUNCH_LINE_H
#define LAUNCH_LINE_H
#include <stdio.h>
#include "cudalaunchtop/launch_view.h"
#include "cudalaunchtop/launches.h"

struct launch_line {
	struct launch_row row;
	const char *kernel, *kind;
	char *address;		/* what kernel points to if it has no name */
	unsigned long long time;
	double interval, rate;
};

/* Returns *n sorted lines: what was launched in the interval, or since the start if whole; with
 * idle also what was launched only before. */
struct launch_line *launch_lines(struct launch_view *v, bool whole, bool idle, size_t *n);
void launch_lines_free(struct launch_line *lines, size_t n);

struct launch_widths launch_widths(const struct launch_line *lines, size_t n, bool narrow);

/* Print the columns without a newline. */
void launch_head(FILE *f, const struct launch_view *v, const struct launch_widths *w);
void launch_text(FILE *f, const struct launch_view *v, const struct launch_line *l,
		 const struct launch_widths *w);

#endif
