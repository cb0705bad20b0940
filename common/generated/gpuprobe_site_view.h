/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints the counts or records of a GPU probe, as text or JSON.  Only tools that scripts/new-gpu-probe makes use this: the
 * shipped ones have tables of their own. */
#ifndef GENERATED_GPUPROBE_SITE_VIEW_H
#define GENERATED_GPUPROBE_SITE_VIEW_H
#include "abi/gpu_variables.h"
#include "cli/out.h"
#include "gpuprobe/gpuprobe_modules.h"
#include "sym/demangle.h"

enum gpuprobe_site_shown {
	GPU_SITE_HIST,		/* of gpu_hist() */
	GPU_SITE_COUNTERS,	/* of gpu_count() */
	GPU_SITE_RECORDS,	/* of gpu_record() */
};

/* Starts zeroed except for the first three. */
struct gpuprobe_site_view {
	enum gpuprobe_site_shown shown;
	enum out_unit unit;		/* of a histogram */
	const char *counters[GPU_BUCKETS + 1];	/* their names: columns, in upper case, and keys; ended by NULL */
	bool begun;
	struct demangler names;
};

/* Prints the counts of each site so far: GPU_SITE_COUNTERS in rows, by the first counter; GPU_SITE_HIST as histograms. */
void gpuprobe_site_view(struct gpuprobe_site_view *v, const struct gpuprobe_modules *m);

/* Prints a row for each record of a module, and frees them. */
void gpuprobe_site_view_records(struct gpuprobe_site_view *v, struct gpuprobe_modules *m, struct gpuprobe_module *module);

#endif
