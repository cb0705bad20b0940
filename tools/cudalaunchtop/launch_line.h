/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Rows as they are shown; for launch_view.c and launch_screen.c alone. */
#ifndef LAUNCH_LINE_H
#define LAUNCH_LINE_H
#include <stdio.h>
#include "cudalaunchtop/launch_view.h"

/* A launch_row as it is shown. */
struct line {
	struct launch_row row;
	const char *kernel, *kind;
	char *address;		/* kernel, where it has no name */
	unsigned long long time;
	double interval, rate;
};

/* Ends the interval: whole is all the time since the start. */
void launch_measure(struct launch_view *v, bool whole);

/* *n lines in their order: what was launched in the interval, whole or not, or with idle
 * also what was launched before. */
struct line *launch_lines(const struct launch_view *v, bool whole, bool idle, size_t *n);
void launch_lines_free(struct line *lines, size_t n);

/* The columns, without the end of the line. */
void launch_head(FILE *f, const struct launch_view *v, bool narrow);
void launch_text(FILE *f, const struct launch_view *v, const struct line *l, bool narrow);

/* The screen's part of launch_view_start(). */
void launch_view_screen(struct launch_view *v);

#endif
