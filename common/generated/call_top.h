/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Only for tools written by scripts/new-tool: a sorted table of call_stats, in blocks of text, as JSON, or on the terminal's
 * screen. */
#ifndef GENERATED_CALL_TOP_H
#define GENERATED_CALL_TOP_H
#include <stdbool.h>
#include "cli/row.h"
#include "cli/top_screen.h"
#include "model/call_stats.h"

struct bpf_map;
struct profile;

struct call_top {
	/* set by the tool */
	struct field *fields;		/* of struct call_stats: the columns and their keys */
	const char *const *sorts;	/* keys that the table can be sorted by, NULL at the end */
	int sort;			/* index into sorts */
	long rows;			/* maximum; 0 = 20, but all in JSON and on the screen */
	bool folded;			/* instead a line per stack with its total time, for flame graphs */
	struct profile *profile;	/* each interval's calls are added: time and number */
	struct bpf_map *aggregates;
	volatile unsigned int *epoch;
	struct top_view screen;		/* only who */
	/* state */
	struct call_stats_set calls;
	bool first;			/* no block has been printed */
	bool reverse;
	struct call_stats *stats;	/* the rows of calls, in the order shown */
	size_t n;
};

/* Call when tracing starts.  If the screen is open, the table is drawn there. */
void call_top_start(struct call_top *t);

/* Ends the interval: prints or draws its calls. */
void call_top_report(struct call_top *t);

/* For event_loop.tick: returns false if the user pressed a key to quit. */
bool call_top_tick(struct call_top *t);

#endif
