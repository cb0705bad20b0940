/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Calls of a function since the last report: from a group whose key is an enum cuda_id and whose values are nanoseconds. */
#ifndef MODEL_CALL_STATS_H
#define MODEL_CALL_STATS_H
#include <stddef.h>
#include "base/log2_hist.h"
#include "model/aggregate.h"

struct call_stats {
	unsigned long long time;	/* of the report: CLOCK_MONOTONIC, ns; set by the tool */
	int pid;			/* 0 = all processes together; so is comm */
	const char *comm, *func;
	const char *container;		/* set by the tool: short id; NULL: none, or not shown */
	bool complete;			/* set by the tool: its processes were traced from their first call on */
	const struct stack *stack;
	unsigned long long calls, failed, count;	/* count: calls that succeeded */
	/* of the calls that succeeded, ns; NO_VALUE if there are none, except total */
	unsigned long long total, mean;
	struct hist_spread times;
	const struct hist *hist;
	/* The same of the second value of each call, such as bytes: NO_VALUE if there is none.  All but the total need
	 * aggregates.second. */
	unsigned long long second;
	struct hist_spread second_spread;
	const struct hist *second_hist;
};

/* Returns the statistics of a group, valid as long as it; second: its calls have a second value. */
struct call_stats call_stats_of(const struct aggregates *aggregates, const struct aggregate *group, bool second);

#endif
