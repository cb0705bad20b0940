/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "gpuprobe/how.h"
#include "gpuprobe/image_text.h"
#include "ptx/fatbin.h"

#define TABLE "__cuprobe_sites_"

enum { HEAD = 65536 };		/* .target stands before anything else but comments */

/* What struct instrument's callbacks get. */
struct callbacks {
	const struct select *select;
	struct registers *registers;
};

static bool selects_kernel(void *ctx, const char *name, size_t n)
{
	return select_matches(((struct callbacks *)ctx)->select, name, n);
}

static unsigned limits_registers(void *ctx, const char *name, size_t n)
{
	return registers_limit(((struct callbacks *)ctx)->registers, name, n);
}

/* Return true if a device can run text: the .target's number is not above its own.  It takes a container's word. */
static bool runs(struct image_job *job, const char *text, size_t size)
{
	const char *at = memmem(text, size < HEAD ? size : HEAD, ".target", 7);
	struct fatbin_image image = { .kind = FATBIN_PTX };
	char *end;

	at = at ? memmem(at, (size_t)(text + size - at) < 64 ? (size_t)(text + size - at) : 64, "sm_", 3) : NULL;
	if (!at)
		return true;
	image.sm = (uint32_t)strtoul(at + 3, &end, 10);
	image.flags = *end == 'a' ? FATBIN_ARCH_A : *end == 'f' ? FATBIN_ARCH_F : 0;
	job->out->told.sm = image.sm;
	return fatbin_runs(&image, job->sm);
}

/* Remembers the tables of sites in text that has probes already. */
static bool has_probes(struct image *out, const char *text, size_t size)
{
	const char *at = text, *end = text + size;
	bool found = false;

	while ((at = memmem(at, (size_t)(end - at), TABLE, strlen(TABLE)))) {
		uint32_t hash = (uint32_t)strtoul(at + strlen(TABLE), NULL, 16);

		at += strlen(TABLE);
		found = true;
		if (!out->num_hashes || (out->hashes[out->num_hashes - 1] != hash && out->num_hashes < IMAGE_HASHES))
			out->hashes[out->num_hashes++] = hash;
	}
	return found;
}

static enum gpuprobe_status status_of(enum instrument_result result)
{
	switch (result) {
	case INSTRUMENT_DONE: return GPUPROBE_DONE;
	case INSTRUMENT_NO_SITES: return GPUPROBE_NO_SITES;
	case INSTRUMENT_TOO_MANY: return GPUPROBE_TOO_MANY;
	case INSTRUMENT_OLD: return GPUPROBE_OLD;
	case INSTRUMENT_LINKED: return GPUPROBE_LINKED;
	default: return GPUPROBE_BAD;
	}
}

static char *instrument_text(struct image_job *job, const char *text, size_t *size)
{
	const struct gpuprobe_config *config = &job->inject->config;
	struct callbacks callbacks = { &job->inject->select, job->registers };
	struct instrument how = how_to(config, &job->inject->probe);
	struct gpuprobe_image *told = &job->out->told;
	enum instrument_result result;
	struct instrumented out = { 0 };

	if (job->inject->select.size)
		how.selects = selects_kernel;
	if (job->registers && job->registers->how)
		how.registers = limits_registers;
	how.ctx = &callbacks;
	result = instrument(&out, text, *size, &how);
	if (told->status != GPUPROBE_DONE || !job->out->num_hashes)	/* of several, one that was rewritten counts */
		told->status = status_of(result);
	told->sites += out.sites;
	told->kernels += out.kernels;
	if (result != INSTRUMENT_DONE)
		return NULL;
	told->size += *size;
	told->rewritten += out.size;
	if (job->out->num_hashes < IMAGE_HASHES)
		job->out->hashes[job->out->num_hashes++] = out.hash;
	*size = out.size;
	return out.text;
}

char *image_text(struct image_job *job, const char *text, size_t *size)
{
	if (!runs(job, text, *size)) {
		job->out->told.status = GPUPROBE_NEWER;
		return NULL;
	}
	if (has_probes(job->out, text, *size)) {
		job->out->told.status = GPUPROBE_THERE;
		return NULL;
	}
	return instrument_text(job, text, size);
}
