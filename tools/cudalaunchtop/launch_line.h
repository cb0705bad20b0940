/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Rows as they are shown: in their order, with names and rates; and their columns as text, the same
 * in blocks and on the screen, narrower where that is. */
#ifndef LAUNCH_LINE_H
#define LAUNCH_LINE_H
#include <stdio.h>
#include "cudalaunchtop/launch_view.h"
#include "cudalaunchtop/launches.h"

struct launch_line {
	struct launch_row row;
	const char *kernel, *kind;
	char *address;		/* kernel, where it has no name */
	unsigned long long time;
	double interval, rate;
};

/* Returns *n lines in their order: what was launched in the interval, whole or not, or with idle
 * also what was launched before. */
struct launch_line *launch_lines(const struct launch_view *v, bool whole, bool idle, size_t *n);
void launch_lines_free(struct launch_line *lines, size_t n);

/* The columns, without the end of the line. */
void launch_head(FILE *f, const struct launch_view *v, bool narrow);
void launch_text(FILE *f, const struct launch_view *v, const struct launch_line *l, bool narrow);

#endif
