/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls of each function since the last report: from groups whose values are nanoseconds and,
 * where bpf/newtool/call_aggregate.bpf.h counts them, bytes. */
#ifndef MODEL_CALL_STATS_H
#define MODEL_CALL_STATS_H
#include <stddef.h>
#include "base/log2_hist.h"
#include "model/aggregate.h"

struct call_stats {
	unsigned long long time;	/* of the report: CLOCK_MONOTONIC, ns */
	double interval;		/* since the last report or the start of tracing, s */
	int pid;			/* 0 = all processes together; so is comm */
	const char *comm, *func;
	const char *container;		/* set by the tool: short id; NULL: none, or not shown */
	bool complete;			/* what is known of its processes begins with their first call */
	const struct stack *stack;
	unsigned long long calls, failed, count;	/* count: calls that succeeded */
	double rate;			/* calls per second */
	/* of the calls that succeeded, ns; NO_VALUE if there are none, except total */
	unsigned long long total, mean;
	struct hist_spread times;
	const struct hist *hist;
	/* bytes that the calls copied, set or allocated; NO_VALUE: not known.  min_bytes, max_bytes
	 * and hist_bytes need groups of the series CALLS_BYTES. */
	unsigned long long bytes, min_bytes, max_bytes;
	const struct hist *hist_bytes;
};

/* The call statistics of one tool; starts zeroed. */
struct call_stats_set {
	/* private */
	struct aggregates aggregates;	/* of the current interval */
	unsigned long long since;	/* its start: CLOCK_MONOTONIC, ns */
	struct call_stats *rows;	/* of the last interval */
	size_t n;
};

/* Starts the first interval. */
void call_stats_start(struct call_stats_set *set);

/* Ends the interval and returns what was counted in it or, with call stacks, passed to
 * call_stats_record(): sorted by process and function, or by total time, longest first.  The set
 * owns the *n rows, which are valid until the next call, their histograms until
 * aggregate_clear(), which the caller must call then. */
struct call_stats *call_stats_take(struct call_stats_set *set, struct bpf_map *aggregates,
				   volatile unsigned int *epoch, bool longest_first, size_t *n);

/* Returns the statistics of a group whose key is a function's id and whose values are times;
 * without the interval and bytes. */
struct call_stats call_stats_of(const struct aggregate *group);

/* Call last: frees the groups and rows. */
void call_stats_free(struct call_stats_set *set);

/* For event_loop.record, with call stacks: adds the record of one call; bytes: count them too. */
void call_stats_record(struct call_stats_set *set, const void *record, size_t size, bool bytes);

#endif
