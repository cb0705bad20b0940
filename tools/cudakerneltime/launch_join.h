/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Launches and blocks from the records of the probe (gpu/kerneltime.gpu.c), which are hostile. */
#ifndef LAUNCH_JOIN_H
#define LAUNCH_JOIN_H
#include <stddef.h>
#include "abi/gpu.h"
#include "base/hash.h"
#include "model/gpuprobe_modules.h"

/* A launch that has ended.  min <= max <= end - start, and blocks is not 0. */
struct kernel_launch {
	const struct gpuprobe_module *module;
	const struct site *site;	/* its kernel's entry */
	struct gpu_launch gpu;
	unsigned long long p50, p95, p99;	/* of its blocks' times, ns, within [min, max] */
};

struct kernel_block {
	const struct gpuprobe_module *module;
	const struct site *site;
	unsigned long long start, ns;	/* %globaltimer, ns */
	unsigned smid, block, grid;	/* the low half of its launch's gpu.grid */
};

/* Starts zeroed but for what is called. */
struct launch_join {
	void (*launch)(void *ctx, const struct kernel_launch *launch);
	void (*block)(void *ctx, const struct kernel_block *block);
	void *ctx;
	struct launch_part *parts;	/* a launch of each module, of which some records came */
	unsigned long long incomplete;	/* launches of which others are missing, or that make no sense */
};

/* Takes what a module has recorded since the last time: calls for each. */
void launch_join_records(struct launch_join *join, const struct gpuprobe_module *module, const struct gpu_record *records,
			 size_t n);

void launch_join_free(struct launch_join *join);

#endif
