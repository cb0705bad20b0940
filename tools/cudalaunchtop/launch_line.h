/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The columns of a row as text. */
#ifndef LAUNCH_LINE_H
#define LAUNCH_LINE_H
#include <stdio.h>
#include "cudalaunchtop/launch_lines.h"

/* Writes the three sizes of a grid or block, "-" if they are not known; returns how long that is. */
int launch_dim_text(char *buf, size_t size, const unsigned *d);

/* Print the columns without a newline. */
void launch_head(FILE *f, const struct launch_view *v, const struct launch_widths *w);
void launch_text(FILE *f, const struct launch_view *v, const struct launch_line *l,
		 const struct launch_widths *w);

#endif
