/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints the rows of cudamemcpysize. */
#ifndef COPY_VIEW_H
#define COPY_VIEW_H
#include "cudamemcpysize/copy_row.h"

/* Prints a row as text, as JSON or as a line for flame graphs. */
void copy_view_row(const struct copy_view *view, const struct copy_row *row);

#endif
