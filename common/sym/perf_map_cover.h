/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which of overlapping functions has an address.  Private to perf_map.c. */
#ifndef PERF_MAP_COVER_H
#define PERF_MAP_COVER_H
#include <stddef.h>

struct function {
	unsigned long long start, end;
	unsigned int name, age;	/* name: offset from the strings; age: the greatest is the newest */
};

/* Addresses that belong to one function. */
struct covered {
	unsigned long long start, end, begin;	/* begin: of the function */
	unsigned long long name;
};

/* Sorts the functions.  Returns what each has, without those parts that a newer one has: *n ranges, at most
 * 2 * nfunctions, in order of addresses.  The caller frees it. */
struct covered *perf_map_cover(struct function *functions, size_t nfunctions, size_t *n);

#endif
