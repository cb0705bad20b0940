/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A group as a line of the screen. */
#ifndef LEAK_LINE_H
#define LEAK_LINE_H
#include <stdbool.h>
#include <stdio.h>
#include "cudaleak/leak.h"
#include "proc/containers.h"

struct leak_columns {
	bool narrow;		/* on a narrow terminal: fewer and narrower ones */
	bool device;		/* with the device of a stack */
	struct containers *containers;	/* with that of a process, by process alone if narrow; NULL: without */
};

/* Print the columns without a newline; interval: seconds in which the groups grew. */
void leak_line_head(FILE *f, const struct leak_options *options, const struct leak_columns *columns);
void leak_line(FILE *f, const struct leak_group *g, const struct leak_options *options, double interval,
	       const struct leak_columns *columns);

/* Prints bytes per second with a sign, right-aligned in so many columns. */
void leak_line_rate(FILE *f, int width, long long bytes, double interval);

#endif
