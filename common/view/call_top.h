/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A table of call_stats, sorted: in blocks of text, as JSON, or on the terminal's screen. */
#ifndef CALL_TOP_H
#define CALL_TOP_H
#include <stdbool.h>
#include "model/call_stats.h"
#include "cli/row.h"
#include "cli/top_view.h"

struct bpf_map;

struct call_top {
	/* set by the tool */
	struct field *fields;		/* of struct call_stats: a column each, and the keys */
	const char *const *sorts;	/* keys of those that it can be sorted by, NULL at the end */
	int sort;			/* index into sorts */
	long rows;			/* at most so many; 0 = 20, but in JSON and on the screen all */
	struct bpf_map *aggregates;
	volatile unsigned int *epoch;
	struct top_view screen;		/* who alone */
	/* state */
	struct call_stats_set calls;
	bool printed;			/* a block of text, so that a line parts the next from it */
	bool reverse;
	struct call_stats *stats;	/* of calls, as they are shown */
	size_t n;
};

/* Tracing begins.  With a screen that is open the table is drawn there. */
void call_top_start(struct call_top *t);

/* Ends the interval: prints or draws what was called in it. */
void call_top_report(struct call_top *t);

/* For events.tick: false if a key was pressed to end. */
bool call_top_tick(struct call_top *t);

#endif
