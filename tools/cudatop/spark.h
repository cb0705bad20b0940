/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The last values of a number as a line of bars: blocks in UTF-8, else ASCII. */
#ifndef CUDATOP_SPARK_H
#define CUDATOP_SPARK_H
#include <stdio.h>

enum { SPARK_VALUES = 180 };

struct spark {				/* starts zeroed */
	double values[SPARK_VALUES];	/* the value of number i at i % SPARK_VALUES */
	unsigned long long n;		/* how many there have been */
};

/* Adds a value that is not negative; NAN: it is not known. */
void spark_add(struct spark *s, double value);

/* Prints them in so many columns, the newest last; a bar is the mean of several values if there are fewer columns.  most: the
 * value of a full bar; 0: the largest bar is full. */
void spark_print(FILE *f, const struct spark *s, int columns, double most);

#endif
