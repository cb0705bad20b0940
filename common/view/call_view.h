/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints the calls of a function as text, with histograms, on standard output. */
#ifndef VIEW_CALL_VIEW_H
#define VIEW_CALL_VIEW_H
#include "cli/out.h"

struct call_stats;

/* Prints a line, with the process if it has one, and the histogram of times. */
void call_stats_text(const struct call_stats *stats);

/* Fields of a row with a struct call_stats, at being its member or nothing: "calls.". */
#define CALL_TIME_FIELDS(at)									\
	{ "total_ns", NULL, 0, OUT_UINT, AT(at total) },	/* ns: of these calls */	\
	{ "min_ns", NULL, 0, OUT_UINT, AT(at times.min) },	/* ns: shortest */		\
	{ "max_ns", NULL, 0, OUT_UINT, AT(at times.max) },	/* ns: longest */		\
	{ "p50_ns", NULL, 0, OUT_UINT, AT(at times.p50) },	/* ns: median */		\
	{ "p95_ns", NULL, 0, OUT_UINT, AT(at times.p95) },	/* ns: 95th percentile */	\
	{ "p99_ns", NULL, 0, OUT_UINT, AT(at times.p99) },	/* ns: 99th percentile */	\
	{ "hist", NULL, 0, OUT_HIST, AT(at hist) }	/* ns: calls by time */

/* Prints the histogram of the second values. */
void call_stats_text_of_second(const struct call_stats *stats, enum out_unit unit);

#endif
