/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "cudamemtime/rewrite.h"

static bool selects(void *ctx, const char *name, size_t n)
{
	struct rewrite *r = ctx;
	char *symbol = strndup(name, n);
	bool chosen = symbol && kernels_match(r->kernels, symbol, r->globs, r->globs_size);

	free(symbol);
	return chosen;
}

void rewrite_init(struct rewrite *r, struct measure *m)
{
	struct gpuprobe_config config;
	const char *text, *wrong;

	gpuprobe_config(&m->gpuprobe, &config);
	text = measure_config(m, &config);
	wrong = gpu_probe_read(&r->probe, text, config.probe_size);
	if (wrong)
		die(0, "the probe: %s", wrong);
	r->kernels = &m->kernels;
	r->keep_registers = m->gpuprobe.keep_registers;
	r->globs = gpuprobe_kernels(&m->gpuprobe, &r->globs_size);
	r->options = (struct instrument){
		.probe = &r->probe, .scheme = config.scheme, .spaces = config.spaces, .ops = config.ops,
		.block_mask = config.block_mask, .block_want = config.block_want,
		.warp_mask = config.warp_mask, .warp_want = config.warp_want,
		.groups = config.groups, .limit = config.limit, .max_sites = config.max_sites,
		.selects = selects, .ctx = r,
	};
}

void rewrite_free(struct rewrite *r)
{
	free(r->globs);
}

const char *rewrite_refuses(const char *text, size_t size)
{
	return memmem(text, size, "__cuprobe_sites_", 16) ? "it has probes already" : NULL;
}

const char *rewrite_why(enum instrument_result result)
{
	switch (result) {
	case INSTRUMENT_DONE:
		return NULL;
	case INSTRUMENT_NO_SITES:
		return "nothing in it is selected";
	case INSTRUMENT_TOO_MANY:
		return "more places than --max-sites";
	case INSTRUMENT_OLD:
		return "PTX before version 6.2, or for devices before sm_70";
	case INSTRUMENT_LINKED:
		return "it needs functions of other images";
	case INSTRUMENT_BAD:
		break;
	}
	return "malformed PTX";
}
