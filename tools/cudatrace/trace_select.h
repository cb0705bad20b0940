/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* From cudatrace's options to the functions that are probed. */
#ifndef CUDATRACE_TRACE_SELECT_H
#define CUDATRACE_TRACE_SELECT_H

struct trace;

/* Of a function, by -e. */
enum trace_selected {
	TRACE_UNSELECTED,
	TRACE_SELECTED,
	TRACE_FIRSTS,		/* launches: only the first one of each kernel */
	TRACE_EXCLUDED,		/* a function of the runtime or NCCL, removed by its name: the calls in it of the
				 * driver, or NCCL's, are excluded, too */
};

/* Returns the i-th word for -e: groups, all, default, nccl, functions; NULL at the end. */
const char *trace_select_word(int i);

/* Checks and completes the options, selects the functions and sets what the probes do for each.  Exits 2
 * on a usage error.  *t must not move afterwards. */
void trace_prepare(struct trace *t);

#endif
