/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runs of kernels on a GPU and of their blocks, from the records of the probe (gpu/kerneltime.gpu.c), which are hostile.  A
 * launch is the program's call; a run is what the GPU did. */
#ifndef CUDAKERNELTIME_RUNS_H
#define CUDAKERNELTIME_RUNS_H
#include <stddef.h>
#include <stdint.h>
#include "abi/gpu_variables.h"
#include "base/hash.h"
#include "cli/hist.h"
#include "gpuprobe/gpuprobe_modules.h"

/* Sums of times in steps of a sixteenth of an octave, so that percentiles are at most 3 percent off.  Up to 2^41 ns, 36
 * minutes; the last step counts longer times, too. */
enum { TIME_STEPS = 16 * 38 };

/* All starts zeroed. */
struct time_steps {
	unsigned long long count, total, min, max;	/* ns */
	uint32_t n[TIME_STEPS];
};

/* A run that has ended.  min <= max <= end - start, and blocks is not 0. */
struct kernel_run {
	const struct gpuprobe_module *module;
	const struct site *site;	/* the kernel's entry */
	struct gpu_launch gpu;
	unsigned long long p50, p95, p99;	/* of its blocks' times, ns, within [min, max] */
};

struct kernel_block {
	const struct gpuprobe_module *module;
	const struct site *site;
	unsigned long long start, ns;	/* %globaltimer, ns */
	unsigned smid, block, grid;	/* the low half of its run's gpu.grid */
};

/* Starts zeroed except for the callbacks. */
struct run_reader {
	void (*run)(void *ctx, const struct kernel_run *run);
	void (*block)(void *ctx, const struct kernel_block *block);
	void *ctx;
	struct run_part *parts;	/* an incomplete run of each module */
	unsigned long long incomplete;	/* runs with missing records or impossible values */
};

/* Of runs, and of blocks; some 100 MB each. */
enum { RUNS_MAX = 1 << 20 };

/* Runs and blocks that are kept until the end, for --chrome and -k.  Starts zeroed. */
struct run_list {
	struct kernel_run *run;
	struct kernel_block *block;
	size_t runs, blocks;
	unsigned long long dropped;	/* beyond RUNS_MAX */
};

void time_steps_add(struct time_steps *t, unsigned long long ns);

/* Adds the times of another. */
void time_steps_join(struct time_steps *t, const struct time_steps *more);

/* Returns what hist_table() prints. */
struct hist_totals time_steps_totals(const struct time_steps *t);

/* Adds the counts to the rows of base/log2_hist.h. */
void time_steps_rows(const struct time_steps *t, unsigned long long rows[HIST_ROWS]);

/* Reads a module's new records, and calls back for each run and block. */
void run_reader_add(struct run_reader *reader, const struct gpuprobe_module *module, const struct gpu_record *records,
		    size_t n);

void run_reader_free(struct run_reader *reader);

void run_list_add(struct run_list *list, const struct kernel_run *run);
void run_list_add_block(struct run_list *list, const struct kernel_block *block);
void run_list_free(struct run_list *list);

/* Warns of runs that had not ended at the last reading, and of blocks that found no room on the GPU. */
void runs_warn_unfinished(const struct gpuprobe_modules *m);

#endif
