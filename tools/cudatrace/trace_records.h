/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* From the records of cudatrace's probes to what was asked for. */
#ifndef TRACE_RECORDS_H
#define TRACE_RECORDS_H
#include <stdbool.h>
#include <stddef.h>
#include "probe/probe_source.h"
#include "cudatrace/trace_line.h"

/* The options. */
struct trace {
	const char *expression, *output, *chrome;
	bool failed, summary, unchecked, tree, no_returns;
	struct trace_lines lines;
	struct programs *programs;	/* the tool's */
	struct syms *syms;
	/* set by trace_prepare() */
	unsigned char *selected;	/* by id: enum trace_selected */
	bool launches;		/* are shown, so kernels' names are wanted */
};

/* Completes the options, chooses the functions and says what the probes are to do with each.
 * Exits 2 if the options do not go together. */
void trace_prepare(struct trace *t);

/* Those that were chosen, and those that tell what is needed beside them. */
extern const struct probe_source trace_chosen;

/* A record, for event_loop_run(). */
int trace_record(void *ctx, void *data, size_t size);

#endif
