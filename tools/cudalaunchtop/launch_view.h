/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A table of launches, a line for each kernel or process: in blocks of text and on the terminal's
 * screen. */
#ifndef CUDALAUNCHTOP_LAUNCH_VIEW_H
#define CUDALAUNCHTOP_LAUNCH_VIEW_H
#include <stdbool.h>
#include <stdio.h>
#include "base/util.h"
#include "cli/top_screen.h"
#include "gputime/gpu_time.h"
#include "cudalaunchtop/graph_view.h"
#include "model/launches.h"
#include "cli/field.h"
#include "proc/process_table.h"
#include "view/columns.h"

#define LAUNCH_SORT_WORDS "launches|total|threads|name|pid|time"
enum { SORT_LAUNCHES, SORT_TOTAL, SORT_THREADS, SORT_NAME, SORT_PID, SORT_TIME };

/* The most threads of a launch that a line has. */
#define THREADS_MOST	(NO_VALUE - 1)

struct launch_line {
	struct launch_row row;
	const char *kernel, *kind;
	const char *shown, *short_name;	/* kernel in text and stacks, and by its short name */
	char container[CONTAINER_ID];	/* of the process; "": none */
	char *address;		/* kernel points here if it has no name */
	struct graph_items items;	/* of a graph; none otherwise */
	unsigned long long time, threads;	/* threads: of a launch, at most THREADS_MOST; NO_VALUE: unknown */
	double interval, rate;
	struct gpu_sum gpu;	/* what ran of it on the GPU in the interval; n is 0: nothing, or that is not measured */
	struct hist_spread gpu_spread;
	bool gpu_unknown;	/* not measured, or another line of this name has it */
	double gpu_share;	/* of the interval; NAN if that is so */
	unsigned long long gpu_mean, gpu_n, gpu_ns;	/* ns; NO_VALUE: likewise, mean also if nothing ran */
	/* for JSON, set by the report: container, and whether all launches of the process were seen, and the graph's nodes */
	const char *container_or_null;
	bool complete, known;
	bool threads_beyond;	/* there are more than THREADS_MOST */
	struct out_print nodes;
};

struct launch_view {
	/* set by the tool */
	struct launches *launches;
	struct gpu_time *gpu;	/* NULL: it is not measured */
	unsigned long long only;	/* devices, as in struct session; 0: all */
	struct process_table *processes;
	struct profile *profile;	/* the launches of each interval are added */
	bool by_process, by_graph, streams, stacks, full, failed;
	int names;		/* enum kernel_style of text and stacks without full */
	long rows;		/* at most this many; 0 = all in JSON, 20 in text */
	int sort;		/* index into LAUNCH_SORT_WORDS */
	struct top_view screen;	/* the tool sets who */
	unsigned long long began, counted;	/* CLOCK_MONOTONIC, ns: when tracing began, twice */
	struct devices_seen devices;	/* several: with a column */
	/* state */
	bool reverse;
	double interval;	/* s */
	struct launch_line *lines;
	size_t n;
	double rate;		/* launches per second, over all lines */
	/* columns: the same in blocks and on the screen, narrower on a narrow terminal */
	bool containers_shown;	/* a process is in a container: processes have a column */
	bool narrow;		/* fewer columns, and narrower ones */
	bool shapes;		/* GRID and BLOCK */
	int comm, grid, block, threads;
	int name;		/* columns left for names; INT_MAX: as many as they have */
	struct name_fit *fit;	/* of the lines' names if they may not fit; or NULL */
};

/* Ends the interval and sets the sorted lines: the launches in the interval, or since the start if
 * whole.  Valid until launch_view_clear(). */
void launch_view_count(struct launch_view *v, bool whole);

/* Chooses the columns for the first n lines in a terminal with so many columns; INT_MAX: as wide as
 * needed. */
void launch_view_columns(struct launch_view *v, size_t n, int columns);

/* With by_graph, call before line i is printed: lists what its graph does, which may be much; and afterwards. */
void launch_view_items(struct launch_view *v, size_t i);
void launch_view_items_free(struct launch_view *v, size_t i);

/* Print the headings, and a line, without a newline. */
void launch_view_head(const struct launch_view *v, FILE *f);
void launch_view_line(const struct launch_view *v, FILE *f, size_t i);

void launch_view_clear(struct launch_view *v);

/* Returns the innermost frame of the launches of a line in flame graphs and profiles.  The caller frees it. */
char *launch_line_leaf(const struct launch_line *l);

/* Sets v->screen, except who. */
void launch_screen_init(struct launch_view *v);

/* Ends the interval and draws its launches, unless the screen is paused. */
void launch_screen_update(struct launch_view *v);

#endif
