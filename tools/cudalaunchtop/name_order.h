/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The names that name_fit.h compares, in order. */
#ifndef NAME_ORDER_H
#define NAME_ORDER_H
#include <stddef.h>

/* A name in the order of their texts.  shared: how many bytes of whole words it has in common with the
 * next one; before, after: the nearest such place to the left and right where less is shared, or -1. */
struct fitted {
	char *name, *text;	/* escaped; without namespaces */
	size_t index, shared;
	long before, after;
};

struct name_fit {
	struct fitted *names;
	size_t n, *at;		/* at[i]: where the i-th name is in names */
	int longest;
	const char *gap;	/* stands for words left out */
	int gap_columns;
};

/* Compares names, of which only the first NAME_FIT_MAX count; they are escaped here.  The array may go
 * afterwards, as may the names. */
enum { NAME_FIT_MAX = 4096 };
struct name_fit *name_fit_new(const char *const *names, size_t n);
void name_fit_free(struct name_fit *fit);

/* Returns the columns of the longest name. */
int name_fit_longest(const struct name_fit *fit);

#endif
