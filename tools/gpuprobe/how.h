/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef GPUPROBE_HOW_H
#define GPUPROBE_HOW_H
#include "abi/gpuprobe.h"
#include "ptx/instrument.h"
#include "ptx/probe.h"

/* Returns what a tool has asked for; the callbacks are the caller's. */
static inline struct instrument how_to(const struct gpuprobe_config *config, const struct gpu_probe *probe)
{
	return (struct instrument){
		.probe = probe, .scheme = config->scheme, .spaces = config->spaces, .ops = config->ops,
		.block_mask = config->block_mask, .block_want = config->block_want,
		.warp_mask = config->warp_mask, .warp_want = config->warp_want,
		.groups = config->groups, .limit = config->limit, .max_sites = config->max_sites,
	};
}

#endif
