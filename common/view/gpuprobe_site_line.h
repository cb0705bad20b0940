/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A row about a site of a probe, or a record of one. */
#ifndef GPUPROBE_SITE_LINE_H
#define GPUPROBE_SITE_LINE_H
#include "cli/hist.h"
#include "cli/row.h"
#include "model/gpuprobe_modules.h"
#include "sym/demangle.h"

struct gpuprobe_site_line {
	unsigned long long time;
	const char *kernel, *symbol, *file, *kind, *space, *op;
	unsigned long long at, bytes;
	struct out_print place;
	unsigned long long counters[GPU_BUCKETS];
	struct hist_totals totals;
	unsigned long long slots[HIST_SLOTS];
	const unsigned long long *hist;
	unsigned long long value, clock, sm, block, warp, grid;
};

enum { GPU_SITE_FIELDS = GPU_BUCKETS + 24, GPU_SITE_HEAD = 24 };

/* The fields of a row, and the heads of counters. */
struct gpuprobe_site_fields {
	struct field f[GPU_SITE_FIELDS];
	char heads[GPU_BUCKETS][GPU_SITE_HEAD];
	unsigned n;
};

/* Make the fields of a row, which start zeroed: what a site counted, by names ended by NULL; a histogram, for JSON; a
 * record; then the site. */
void gpuprobe_site_fields_counters(struct gpuprobe_site_fields *f, const char *const *counters);
void gpuprobe_site_fields_hist(struct gpuprobe_site_fields *f);
void gpuprobe_site_fields_record(struct gpuprobe_site_fields *f);

/* Returns what is known of a site; it points to a name of the demangler's, until the next call. */
struct gpuprobe_site_line gpuprobe_site_line(struct demangler *names, const struct site *site);

/* Writes "file:line", without folders, or "-"; returns the columns. */
int gpuprobe_site_place(FILE *f, const struct site *site);

/* Prints "space kind, op". */
void gpuprobe_site_op(const struct site *site);

/* Prints the end of a line: "kernel: op", and ", file:line" if that is known. */
void gpuprobe_site_where(const char *kernel, const struct site *site);

#endif
