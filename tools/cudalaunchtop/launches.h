/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The launches that cudalaunchtop's probes have counted, put together by kernel, call site or
 * process. */
#ifndef LAUNCHES_H
#define LAUNCHES_H
#include <stdbool.h>
#include <stddef.h>
#include "cudalaunchtop/launch_counter.h"

struct syms;

struct launches {
	bool keep;		/* also what ended processes did is shown to the end; else until
				 * the next interval */
	/* state */
	struct syms *syms;
	struct programs *programs;
	struct counters counters;
};

/* By process and kernel, what has the same full or brief name being one; or by process alone. */
enum launches_by { LAUNCHES_BY_BRIEF, LAUNCHES_BY_FULL, LAUNCHES_BY_PROCESS };

struct launch_row {
	int pid;
	const char *comm;
	const struct kernel *kernel;	/* NULL: func alone is known, or it is a graph */
	unsigned long long func;	/* as it was passed; 0 by process */
	int kind;			/* enum launch_kind; -1 by process */
	const struct stack *stack;
	unsigned long long launches, failed;	/* in the last interval */
	unsigned long long total, total_failed;	/* since tracing began */
	unsigned long long time;		/* of the last: CLOCK_MONOTONIC, ns */
	unsigned grid[3], block[3];		/* of the last; 0 = not told */
};

/* counts and quick: the probes' maps.  They and syms are the caller's, and must live as long. */
struct launches *launches_new(struct syms *syms, const struct bpf_map *counts,
			      const struct bpf_map *quick, bool keep);
void launches_free(struct launches *l);

/* Tracing begins while this process runs: notes what its kernels are, as it may end soon. */
void launches_scan(struct launches *l, int pid);

/* A record of the probes. */
void launches_record(struct launches *l, const void *data, size_t size);

/* Ends an interval: reads the counts. */
void launches_count(struct launches *l);

/* Whatever was launched, by the last launches_count(): *n rows, in no order.  The array is the
 * caller's to free(); what it points to is good until the next launches_count(). */
struct launch_row *launches_rows(const struct launches *l, enum launches_by by, size_t *n);

/* All that was launched, also by what is no longer shown. */
unsigned long long launches_total(const struct launches *l);

#endif
