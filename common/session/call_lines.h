/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Common part of tools that print a line for each call. */
#ifndef SESSION_CALL_LINES_H
#define SESSION_CALL_LINES_H
#include <stdbool.h>
#include "inflight/inflight.h"
#include "model/calls.h"
#include "model/stack_sums.h"
#include "pprof/profile.h"
#include "session/session.h"

/* The first member of the tool's struct, which is the ctx of its hooks. */
struct call_lines {
	/* options */
	bool failed;		/* only calls that failed … */
	long slower;		/* … or took at least so long, ns */
	bool times, stacks, folded;
	struct profile profile;
	/* set by the tool */
	struct session *session;
	/* state */
	struct stack_sums sums;	/* with --folded */
	struct inflight inflight;
};

#define CALL_LINES_INIT(target, kind)								\
	{ .session = (target), .sums = STACK_SUMS_INIT(&(target)->processes),			\
	  .profile = PROFILE_INIT(kind, &(target)->processes) }

#define OPT_LINES_FAILED(l) OPT_FLAG('x', "failed", &(l)->failed, "print only failed calls")
#define OPT_LINES_SLOWER(l) \
	OPT_TIME(0, "slower", "US", &(l)->slower, VALUE_US, 0, "print only calls that took at least US microseconds")
#define OPT_LINES_STACKS(l)									\
	OPT_FLAG('T', "timestamp", &(l)->times, "print a column with the time of day"),		\
	OPT_FLAG('k', "stacks", &(l)->stacks, "print call stacks"),				\
	OPT_STACKS((l)->session)
/* unit: of the lines for flame graphs */
#define OPT_LINES_FOLDED(l, unit)								\
	OPT_FLAG(0, "folded", &(l)->folded, "at the end, print one line per stack, for flame graphs: " unit), \
	OPT_PPROF(&(l)->profile)

/* For the initializer of struct tool. */
#define TOOL_CALL_LINES(l)								\
	.session = (l)->session, .stacks = &(l)->stacks, .folded = &(l)->folded, .profile = &(l)->profile

/* Call when everything is attached. */
#define CALL_LINES_START(l, skel, with_stacks) do {						\
	(l)->inflight = (struct inflight)INFLIGHT_OF(skel, (l)->session, with_stacks);		\
	inflight_start(&(l)->inflight);								\
} while (0)

/* Hooks of struct tool.  stop: prints the lines of --folded, or the calls in flight. */
void call_lines_check(void *ctx);
int call_lines_stop(void *ctx, int sig);
int call_lines_close(void *ctx, int status);

/* Adds a call to the profile and, with --folded, the first of its values[PROFILE_VALUES] to the sums: then returns true,
 * because its line is not printed.  device: as in abi/device.h. */
bool call_lines_folded(struct call_lines *l, const struct call *call, unsigned int device, const unsigned long long *values);

#endif
