/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls of each function since the last report: from groups whose values are nanoseconds, and where
 * bpf/lib/call_aggregate.bpf.h counts them also bytes. */
#ifndef CALL_STATS_H
#define CALL_STATS_H
#include "model/aggregate.h"

struct call_stats {
	unsigned long long time;	/* of the report: CLOCK_MONOTONIC, ns */
	double interval;		/* since the report before, or tracing began: s */
	int pid;			/* 0 = of all processes together; so is comm */
	const char *comm, *func;
	const struct stack *stack;
	unsigned long long calls, failed, count;	/* count: of calls, those that succeeded */
	double rate;			/* calls a second */
	/* the time of those, ns; NO_VALUE if there are none, but total */
	unsigned long long total, mean, min, max, p50, p95, p99;
	const unsigned long long *hist;
	/* what they were about; NO_VALUE: it cannot be told.  min_bytes, max_bytes and hist_bytes
	 * need groups of the series CALLS_BYTES. */
	unsigned long long bytes, min_bytes, max_bytes;
	const unsigned long long *hist_bytes;
};

/* What one tool counts; begins as zeros. */
struct call_stats_set {
	struct aggregates aggregates;	/* of the interval */
	unsigned long long since;	/* when it began: CLOCK_MONOTONIC, ns */
	struct call_stats *rows;	/* of the interval before */
	size_t n;
};

/* Tracing begins: the first interval does. */
void call_stats_start(struct call_stats_set *set);

/* Ends the interval: what was counted in it, or with call stacks was given to
 * call_stats_record(), by process and function or the longest in all first.  The *n rows are the
 * set's, and good until the next call; their histograms until aggregate_clear(), which is to
 * follow. */
struct call_stats *call_stats_take(struct call_stats_set *set, struct bpf_map *aggregates,
				   volatile unsigned int *epoch, bool longest_first, size_t *n);

/* A group whose function's id is in its key and whose values are its times: what is known of it
 * without the interval and bytes. */
struct call_stats call_stats_of(const struct aggregate *group);

/* For event_loop_run(), with call stacks: a record of one call; bytes: count them too. */
void call_stats_record(struct call_stats_set *set, const struct aggregate_record *r, bool bytes);

#endif
