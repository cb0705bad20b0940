/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Only for tools written by scripts/new-gpu-probe: prints the counters, histograms or records of a GPU probe (gpu/), as text
 * or JSON. */
#ifndef GPUPROBE_SITE_VIEW_H
#define GPUPROBE_SITE_VIEW_H
#include "abi/gpu.h"
#include "cli/out.h"
#include "model/gpuprobe_modules.h"
#include "sym/demangle.h"

enum gpuprobe_site_shown {
	GPU_SITE_HIST,		/* of gpu_hist() */
	GPU_SITE_COUNTERS,	/* of gpu_count() */
	GPU_SITE_RECORDS,	/* of gpu_record() */
};

/* Starts zeroed but for the first three. */
struct gpuprobe_site_view {
	enum gpuprobe_site_shown shown;
	enum out_unit unit;		/* of a histogram */
	const char *counters[GPU_BUCKETS + 1];	/* their names: columns, in upper case, and keys; ended by NULL */
	bool begun;
	struct demangler names;
};

/* Prints what each site has counted so far: with counters a row each, most of the first counter first, else a
 * histogram.  Not with GPU_SITE_RECORDS. */
void gpuprobe_site_view(struct gpuprobe_site_view *v, const struct gpuprobe_modules *m);

/* Prints a row for each record of a module, and drops them. */
void gpuprobe_site_view_records(struct gpuprobe_site_view *v, struct gpuprobe_modules *m, struct gpuprobe_module *module);

#endif
