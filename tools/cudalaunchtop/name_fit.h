/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fits the names of kernels into a column, so that they remain different: PyTorch's have hundreds of
 * characters, and many of them differ in one argument of a template. */
#ifndef NAME_FIT_H
#define NAME_FIT_H
#include <stddef.h>
#include "cudalaunchtop/name_order.h"

/* Returns the i-th name in at most so many columns: as it is if it fits, else without namespaces, with
 * those words left out that do not distinguish it from the others, from its end on.  The i-th of more than
 * NAME_FIT_MAX is NULL.  The caller frees the text. */
char *name_fit(const struct name_fit *fit, size_t i, int columns);

#endif
