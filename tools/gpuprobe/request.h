/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The tool's request: its options, and the kernels that -K selects. */
#ifndef GPUPROBE_REQUEST_H
#define GPUPROBE_REQUEST_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/gpuprobe.h"
#include "ptx/instrument.h"
#include "ptx/probe.h"

/* Returns the options for instrument(), without callbacks. */
static inline struct instrument request_instrument(const struct gpuprobe_config *config, const struct gpu_probe *probe)
{
	return (struct instrument){
		.probe = probe, .scheme = config->scheme, .spaces = config->spaces, .ops = config->ops,
		.block_mask = config->block_mask, .block_want = config->block_want,
		.warp_mask = config->warp_mask, .warp_want = config->warp_want,
		.groups = config->groups, .limit = config->limit, .max_sites = config->max_sites,
	};
}

struct select {
	const char *globs;	/* each ended by 0; owned by the caller */
	size_t size;		/* 0: all kernels are selected */
};

/* Return true if a kernel's name as linked, as in the source, or as in the source without parameters matches. */
bool select_matches(const struct select *select, const char *name, size_t n);

#endif
