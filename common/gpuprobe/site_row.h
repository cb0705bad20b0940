/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The part that the rows of GPU probe tools share: the site that they are about, and its histogram. */
#ifndef GPUPROBE_SITE_ROW_H
#define GPUPROBE_SITE_ROW_H
#include "cli/hist.h"
#include "cli/row.h"
#include "gpuprobe/gpuprobe_modules.h"
#include "view/kernel_names.h"

struct site_row {
	unsigned long long time;	/* of the report: CLOCK_MONOTONIC, ns */
	const struct site *site;
	const char *kernel, *symbol, *kind, *op;
	const char *file, *space;	/* NULL: none */
	unsigned long long line, bytes;	/* OUT_NONE: none */
	struct out_print place;		/* gpuprobe_site_place() */
};

/* kernel: its name without parameters, which the caller owns. */
struct site_row site_row(const struct site *site, const char *kernel, unsigned long long time);

/* Fields of a row with a member "site", a struct site_row.  AT(MEMBER) is the offset of a member in the row. */
#define SITE_OP_FIELDS									\
	{ "kind", "KIND", -7, OUT_STR, AT(site.kind) },	/* load, atomic, store, reduce, wait, or kernel: warps from entry to exit */ \
	{ "space", "SPACE", -8, OUT_STR, AT(site.space) },	/* global, shared, local, ...: see cudamemtime(8) */ \
	{ "op", "OP", -22, OUT_STR, AT(site.op) }	/* the instruction */

#define SITE_PLACE_FIELDS									\
	{ "file", NULL, 0, OUT_STR, AT(site.file) },	/* of the source; null without -lineinfo */ \
	{ "line", NULL, 0, OUT_UINT, AT(site.line) },	/* in that file */		\
	{ NULL, "PLACE", -SITE_PLACE_WIDTH, OUT_PRINT, AT(site.place) }

#define SITE_KERNEL_FIELDS									\
	{ "kernel", "KERNEL", -1, OUT_STR, AT(site.kernel) },	/* the kernel or device function, without parameters */ \
	{ "short", NULL, 0, OUT_SHORT, AT(site.kernel) },	/* its short name, for reading */ \
	{ "symbol", NULL, 0, OUT_STR, AT(site.symbol) }	/* its mangled name */

enum { SITE_PLACE_WIDTH = 20 };

/* The values of gpu_hist() in a probe. */
struct site_hist {
	struct hist_totals totals;
	unsigned long long rows[HIST_ROWS];
	const unsigned long long *hist;	/* = rows, for OUT_ROWS */
};

void site_hist(struct site_hist *h, const struct gpuprobe_total *total);

/* Prints it as text, with an empty line at the end. */
void site_hist_text(const struct site_hist *h, enum out_unit unit);

#endif
