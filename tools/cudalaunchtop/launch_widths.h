/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which columns a table of launches has, and how wide: the same in blocks and on the screen, narrower on a
 * narrow terminal. */
#ifndef LAUNCH_WIDTHS_H
#define LAUNCH_WIDTHS_H
#include "cudalaunchtop/launch_lines.h"

/* Chooses the columns for a line of so many, INT_MAX: of any length.  Names get what is left: GRID and
 * BLOCK go first if that is too little.  Valid as long as the lines; then launch_widths_free(). */
struct launch_widths launch_widths(const struct launch_view *v, const struct launch_line *lines, size_t n,
				   int columns);
void launch_widths_free(struct launch_widths *w);

/* Returns the columns before the name. */
int launch_columns(const struct launch_view *v, const struct launch_widths *w);

#endif
