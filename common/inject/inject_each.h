/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runs the probes' other programs for threads of the command: what each is doing, and what one left that has ended.  They
 * read what programs have written, so a helper process without privileges does it. */
#ifndef INJECT_INJECT_EACH_H
#define INJECT_INJECT_EACH_H
#include <linux/types.h>
#include <stddef.h>
#include "proc/helper.h"

struct each;
struct inject_run;
struct shmmap_memory;

/* inject_run() of agent/inject/inject.c. */
typedef int run_fn(const struct inject_run *r, struct each *each);

struct inject_each {
	struct helper helper;	/* idle and ctx may be set */
	const char *library;
	const struct shmmap_memory *memory;
	int keep[3];
	bool failed;		/* and warned */
	run_fn *run;		/* in the helper: the library's function, NULL if there is none */
	bool confined;		/* the helper has given up its rights */
};

void inject_each_init(struct inject_each *e, const char *library, const struct shmmap_memory *memory);

/* Runs a program for the threads of process pid, 0: of all, or for one of them, if tid is not 0.  Returns what it wrote, at
 * most size bytes for each thread, *n bytes, which the caller frees; NULL if that is nothing. */
void *inject_each_run(struct inject_each *e, const char *program, unsigned pid, unsigned tid, size_t size, size_t *n);

void inject_each_free(struct inject_each *e);

#endif
