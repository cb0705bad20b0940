/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Names of code that a program generated at run time, as it lists them itself: a line "START SIZE NAME"
 * for each function, in hexadecimal (Linux: tools/perf/Documentation/jit-interface.txt).  The lines are
 * parsed by BCC's library. */
#ifndef SYM_PERF_MAP_H
#define SYM_PERF_MAP_H
#include <stdbool.h>
#include <stddef.h>

/* A larger file is not read: 3 million lines.  Of another one the last lines are kept, and of a name its start. */
enum {
	PERF_MAP_BYTES = 128 << 20, PERF_MAP_LINES = 1 << 19, PERF_MAP_NAMES = 32 << 20 /* bytes */,
	PERF_MAP_NAME = 1 << 10,
};

/* The functions by address: one block of memory, which free() frees, so that it can be copied to another
 * process.  Where lines overlap, the last one holds: memory of functions is used again. */
struct perf_map;

/* Reads a file, which may change meanwhile; NULL if there is no function in it. */
struct perf_map *perf_map_load(int fd);

/* Returns the memory that the map takes, in bytes. */
size_t perf_map_size(const struct perf_map *m);

/* Returns the name of the function at this address, and sets *off to the distance from its start; NULL if
 * there is none.  The name lives as long as the map. */
const char *perf_map_find(const struct perf_map *m, unsigned long long addr, unsigned long long *off);

#endif
