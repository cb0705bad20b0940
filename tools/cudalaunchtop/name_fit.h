/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fits the names of kernels into a column, so that they remain different: brief ones of PyTorch's have hundreds
 * of characters, and many of them differ in one argument of a template; of short ones, few are too long. */
#ifndef CUDALAUNCHTOP_NAME_FIT_H
#define CUDALAUNCHTOP_NAME_FIT_H
#include <stddef.h>

struct name_fit;

/* Compares the first NAME_FIT_MAX names.  They are escaped and copied. */
enum { NAME_FIT_MAX = 4096 };
struct name_fit *name_fit_new(const char *const *names, size_t n);
void name_fit_free(struct name_fit *fit);

/* Returns the columns of the longest name. */
int name_fit_longest(const struct name_fit *fit);

/* Returns the i-th name in at most so many columns: unchanged if it fits, else without namespaces,
 * and then without the words that do not distinguish it from the others, from its end on.  NULL
 * from the NAME_FIT_MAX-th on.  The caller frees the text. */
char *name_fit(const struct name_fit *fit, size_t i, int columns);

#endif
