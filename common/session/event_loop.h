/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The event loop of every tool: records, intervals and termination. */
#ifndef SESSION_EVENT_LOOP_H
#define SESSION_EVENT_LOOP_H
#include <stdbool.h>
#include <stddef.h>
#include "session/losses.h"
#include "session/record_queue.h"

struct bpf_map;
struct session;

struct event_loop {
	struct bpf_map *ring;	/* ring buffer of records, or NULL; set by tool_run() */
	int (*record)(void *ctx, void *data, size_t size);	/* as handle() of struct record_queue */
	long interval_ns;	/* 0 = none */
	long count;		/* intervals; 0 = no limit */
	void (*report)(void *ctx);	/* called after each interval */
	void *ctx;
	bool (*tick)(void *ctx);	/* every few milliseconds, or NULL; false ends the loop */
	long calm_ms;		/* how far apart the ticks are once nothing happens; 0: no farther than else */
	int wake;		/* with calm_ms: a descriptor: when it is readable, there is a tick, and calm goes on */
	const void *lost;	/* the probes' lost[] and lost_by; set by tool_run() */
	struct bpf_map *lost_by;
	/* set by event_loop_run() */
	bool counted_out;	/* count was reached: the last report has been made */
	unsigned long long lost_then[LOST_MAX];
	struct losses losses;	/* by process */
	unsigned long long stopped;	/* when a signal was noticed, ns; 0: not yet */
	/* private */
	struct session *session;
	struct record_queue *queue;	/* the session's */
	unsigned long long happened;	/* when something did, ns */
	unsigned long long passed;	/* when the command got its signal, ns; 0: not yet */
	bool awaits;			/* that it is awaited has been reported */
};

/* Call before the probes are attached, once ring is set: catches signals, and reads the ring buffer
 * while a helper process works for the session (proc/helper_pool.h), which a signal cuts short. */
void event_loop_open(struct event_loop *e, struct session *t);

/* Handles records and intervals until Ctrl-C or SIGTERM, with a command the second one, the end of the duration or count, or
 * until the traced processes or the reader of the output end; then handles the remaining records.
 * Returns the signal that ended the loop, or 0. */
int event_loop_run(struct event_loop *e);

/* Returns how many of these milliseconds, counted from the signal, are left; many without one. */
long event_loop_time_left(const struct event_loop *e, long ms);

#endif
