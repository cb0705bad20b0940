/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The loop of every tool: records, intervals, and the end. */
#ifndef EVENT_LOOP_H
#define EVENT_LOOP_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/lost.h"

struct bpf_map;
struct target;

struct event_loop {
	struct bpf_map *ring;	/* of records, or NULL: tool_run() sets it */
	int (*record)(void *ctx, void *data, size_t size);
	long interval;		/* seconds; 0 = none */
	long count;		/* of intervals; 0 = no end */
	void (*report)(void *ctx);	/* after each interval */
	void *ctx;
	bool (*tick)(void *ctx);	/* every few milliseconds, or NULL; false ends the loop */
	const void *lost;	/* the probes' lost[]; tool_run() sets it */
	/* set by event_loop_run() */
	bool counted_out;	/* count was reached: the last report is already made */
	unsigned long long lost_then[LOST_MAX];
};

/* Handles records and intervals until Ctrl-C, SIGTERM, the end of the duration, of the count,
 * of the traced processes, or of whoever reads the output; then the records that are left.
 * Returns the signal that ended it, else 0. */
int event_loop_run(struct target *t, struct event_loop *e);

/* Prints what was lost up to the end of event_loop_run(), if anything: on standard error, and with
 * -j as the last line of output.  (Later, while the probes are taken out, nobody reads.) */
void event_loop_lost(const struct event_loop *e);

#endif
