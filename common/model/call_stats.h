/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls of a function since the last report as a row to be printed: from groups whose values
 * are nanoseconds, and where bpf/call_tally.bpf.h counts them also bytes. */
#ifndef CALL_STATS_H
#define CALL_STATS_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/aggregate.h"

struct bpf_map;
struct aggregate;
struct stack;

struct call_stats {
	unsigned long long time;	/* of the report: CLOCK_MONOTONIC, ns */
	double interval;		/* since the report before, or tracing began: s */
	int pid;			/* 0 = of all processes together; so is comm */
	const char *comm, *func;
	const struct stack *stack;
	unsigned long long calls, failed, count;	/* count: of calls, those that succeeded */
	double rate;			/* calls a second */
	/* the time of those, ns; OUT_NONE if there are none, but total */
	unsigned long long total, mean, min, max, p50, p95, p99;
	const unsigned long long *hist;
	/* what they were about; OUT_NONE: it cannot be told.  min_bytes, max_bytes and hist_bytes
	 * need groups of the part CALLS_BYTES. */
	unsigned long long bytes, min_bytes, max_bytes;
	const unsigned long long *hist_bytes;
};

/* Tracing begins: the first interval does. */
void call_stats_start(void);

/* Ends the interval: what was counted in it, or with call stacks was given to
 * call_stats_record(), by process and function or the longest in all first.  The *n rows are
 * good until the next call, their histograms until aggregate_clear(), which is to follow. */
struct call_stats *call_stats_take(struct bpf_map *aggregates, volatile unsigned int *epoch,
				   bool longest_first, size_t *n);

/* A group whose function's id is in its key and whose values are its times: what is known of it
 * without the interval and bytes. */
struct call_stats call_stats_of(const struct aggregate *g);

/* For event_loop_run(), with call stacks: a record of one call; bytes: count them too. */
void call_stats_record(const struct aggregate_record *r, bool bytes);

/* Prints a line of text, with the process if it has one, and the histogram. */
void call_stats_text(const struct call_stats *s);

/* The same of bytes, if it can be told. */
void call_stats_text_of_bytes(const struct call_stats *s);

#endif
