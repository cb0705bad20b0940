/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Parts of build/tests/bin/shm: each ends the program with status 1 if something is not as it must be. */
#ifndef TESTS_UNIT_SHMMAP_H
#define TESTS_UNIT_SHMMAP_H
#include <stdio.h>
#include <stdlib.h>
#include <linux/bpf.h>
#include "shmmap/shmmap.h"

#define CHECK(what)										\
	do {											\
		if (!(what)) {									\
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);	\
			exit(1);								\
		}										\
	} while (0)

/* Fills in s with new memory that children share, with these maps: up to one without a type. */
void shmmap_make(struct shmmap *s, const struct inject_map *maps, unsigned int lanes);
void shmmap_unmake(struct shmmap *s);

/* A different number each time, of a sequence that starts with *state. */
unsigned int draw(unsigned int *state);

/* shmmap_types.c */
void test_types(void);		/* arrays and hashes by one thread */
void test_threads(void);	/* threads' elements and storage */
void test_object(const char *file);
void test_view(void);
void test_large(const char *file);	/* it has more maps than there is room for */
void test_section(const char *file);	/* it has .data alone */

/* shmmap_storm.c */
void test_same(void);		/* only one of those who insert a key does */
void test_storm(void);
void test_killed(void);
void test_signals(void);

/* shmmap_ring.c */
void test_ring(void);		/* by one thread */
void test_writers(void);
void test_writers_killed(void);

/* shmmap_bench.c: prints what it costs */
void bench(void);

#endif
