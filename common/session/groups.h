/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Common part of tools that print the calls of each interval in groups, as bpf/lib/aggregate.bpf.h counts them. */
#ifndef SESSION_GROUPS_H
#define SESSION_GROUPS_H
#include <stdbool.h>
#include "inflight/inflight.h"
#include "model/aggregate.h"
#include "model/call_stats.h"
#include "pprof/profile.h"
#include "session/session.h"

/* The first member of the tool's struct, which is the ctx of its hooks. */
struct groups {
	/* options: also group by these; print lines for flame graphs, or write a profile */
	bool pids, stacks, folded;
	struct profile profile;
	/* set by the tool */
	struct session *session;
	const char *noun;		/* what is grouped: "copies" */
	const char *second;		/* the option that sets aggregates.second, without dashes; NULL: none */
	/* state */
	struct aggregates aggregates;
	struct bpf_map *rest;		/* the map "aggregates" */
	volatile unsigned int *epoch;
	struct inflight inflight;
	/* of the report */
	struct aggregate **all;		/* the groups, sorted; valid until groups_clear() */
	size_t n;
	unsigned long long now;		/* CLOCK_MONOTONIC, ns */
};

#define GROUPS_INIT(target, kind, noun_)								\
	{ .session = (target), .noun = (noun_), .profile = PROFILE_INIT(kind, &(target)->processes) }

/* The options of call stacks; sorted: "longest total time first", unit: of the lines for flame graphs. */
#define OPT_GROUPS(g, target, sorted, unit)							\
	OPT_FLAG('k', "stacks", &(g)->stacks, "one group per call stack" sorted),			\
	OPT_STACKS(target),									\
	OPT_FLAG(0, "folded", &(g)->folded, "print one line per stack, for flame graphs: " unit),	\
	OPT_PPROF(&(g)->profile)

/* For the initializer of struct tool. */
#define TOOL_GROUPS(g)									\
	.interval = true, .session = (g)->session, .stacks = &(g)->stacks, .folded = &(g)->folded, .profile = &(g)->profile

/* Call between open and load of the tool's skeleton, and when everything is attached. */
#define GROUPS_OPEN(g, skel) do {								\
	(skel)->rodata->aggregate_stacks = (g)->stacks;						\
	(skel)->rodata->aggregate_pids = (g)->pids;						\
	(skel)->rodata->aggregate_second = (g)->aggregates.second;				\
	groups_open(g, (skel)->obj);								\
} while (0)
#define GROUPS_START(g, skel) do {								\
	(g)->rest = (skel)->maps.aggregates;							\
	(g)->epoch = &(skel)->bss->aggregate_epoch;						\
	(g)->inflight = (struct inflight)INFLIGHT_OF(skel, (g)->session, (g)->stacks);		\
	inflight_start(&(g)->inflight);								\
} while (0)

/* Hooks of struct tool and struct event_loop.  check: processes are separate where their stacks or JSON are
 * printed, and lines for flame graphs have one value. */
void groups_check(void *ctx);
int groups_record(void *ctx, void *data, size_t size);
int groups_close(void *ctx, int status);

void groups_open(struct groups *g, struct bpf_object *obj);

/* Ends the interval: sets the groups, by process and key or, if longest_first, by sum.  Returns the old epoch. */
unsigned int groups_collect(struct groups *g, bool longest_first);

/* The same, and prints the head of the report.  none: printed there if there are no groups; NULL: " no NOUN". */
unsigned int groups_begin(struct groups *g, bool longest_first, const char *none);

/* Returns the statistics of a group of calls of one function; see call_stats_of(). */
struct call_stats groups_stats(const struct groups *g, const struct aggregate *group, bool second);

/* Adds them to the profile.  Returns true if it has printed a line for flame graphs, the only output then. */
bool groups_folded(struct groups *g, const struct call_stats *s, unsigned int device);

/* Prints the calls in flight, and clears the groups. */
void groups_end(struct groups *g);

void groups_clear(struct groups *g);

#endif
