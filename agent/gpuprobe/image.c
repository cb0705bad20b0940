/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "agent/gpuprobe/cubin.h"
#include "agent/gpuprobe/image.h"
#include "agent/gpuprobe/select.h"
#include "base/clock.h"
#include "ptx/fatbin.h"

/* An image being rewritten. */
struct image_job {
	struct image *out;
	struct gpuprobe *state;
	struct registers *registers;
	unsigned sm;		/* the device's, or 0 */
	bool seen;		/* there was PTX that the device can run */
};

#define TABLE "__cuprobe_sites_"

enum { HEAD = 65536 };		/* bytes; only comments may precede .target */

/* The context of struct instrument's callbacks. */
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

/* Returns true if the device can run the text, by its .target. */
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
	job->out->report.sm = image.sm;
	return fatbin_runs(&image, job->sm);
}

/* Records the tables of sites of text that has probes already. */
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
	const struct gpuprobe_config *config = &job->state->config;
	struct callbacks callbacks = { &job->state->select, job->registers };
	struct instrument how = instrument_options(config, &job->state->probe);
	struct gpuprobe_image *report = &job->out->report;
	enum instrument_result result;
	struct instrumented out = { 0 };

	if (job->state->select.size)
		how.selects = selects_kernel;
	if (job->registers && job->registers->how)
		how.registers = limits_registers;
	how.ctx = &callbacks;
	result = instrument(&out, text, *size, &how);
	if (report->status != GPUPROBE_DONE || !job->out->num_hashes)	/* one rewritten text decides */
		report->status = status_of(result);
	report->sites += out.sites;
	report->kernels += out.kernels;
	if (result != INSTRUMENT_DONE)
		return NULL;
	report->size += *size;
	report->rewritten += out.size;
	if (job->out->num_hashes < IMAGE_HASHES)
		job->out->hashes[job->out->num_hashes++] = out.hash;
	*size = out.size;
	return out.text;
}

/* Returns new text, malloc'd and ended by 0, and *size; or NULL, with the reason in job->out. */
static char *rewrite_text(struct image_job *job, const char *text, size_t *size)
{
	if (!runs(job, text, *size)) {
		job->out->report.status = GPUPROBE_NEWER;
		return NULL;
	}
	if (has_probes(job->out, text, *size)) {
		job->out->report.status = GPUPROBE_THERE;
		return NULL;
	}
	return instrument_text(job, text, size);
}

/* Programs pass images without a size: like the driver, rely on the sizes in the headers. */
enum { TEXT_MAX = 1 << 30 };
#define UNKNOWN (SIZE_MAX / 4)

void image_note(struct image *image, const char *why)
{
	size_t n = strlen(why);
	char *more = realloc(image->text, image->text_size + n + 2);

	if (!more)
		return;
	image->text = more;
	image->text_size += (size_t)sprintf(more + image->text_size, "%s%s", image->text_size ? "\n" : "", why);
	image->report.text_size = (uint32_t)image->text_size;
}

static void kernel_skipped(void *ctx, const char *name)
{
	struct image *image = ctx;

	image->report.kernels++;
	if (image->text_size < GPUPROBE_FRAME_MAX / 2)
		image_note(image, name);
}

static void hash_add(void *ctx, uint32_t hash)
{
	struct image *image = ctx;

	image->report.status = GPUPROBE_THERE;
	for (unsigned i = 0; i < image->num_hashes; i++)
		if (image->hashes[i] == hash)
			return;
	if (image->num_hashes < IMAGE_HASHES)
		image->hashes[image->num_hashes++] = hash;
}

/* Machine code: uses NVRTC's PTX of it, or reports its tables of sites and its kernels. */
static void rewrite_code(struct image_job *job, const void *code, size_t size)
{
	struct image *out = job->out;
	struct cubin_reader reader = { kernel_skipped, hash_add, out };
	size_t num;
	char *ptx;

	size = cubin_size(code, size);
	pthread_mutex_lock(&job->state->lock);
	ptx = size ? nvrtc_ptx(&job->state->nvrtc, code, size, &num) : NULL;
	pthread_mutex_unlock(&job->state->lock);
	if (ptx) {
		out->data = rewrite_text(job, ptx, &num);
		out->size = num;
		free(ptx);
		return;
	}
	out->report.status = GPUPROBE_NO_PTX;
	cubin_read(code, size, &reader);
}

static char *rewrite_ptx(void *ctx, const struct fatbin_image *image, const char *text, size_t *size)
{
	struct image_job *job = ctx;

	job->out->report.sm = image->sm;
	job->seen = true;
	return rewrite_text(job, text, size);
}

/* Reports why no image of a container was rewritten. */
static void explain_container(struct image_job *job, const void *container, size_t size)
{
	struct image *out = job->out;
	struct cubin_reader reader = { kernel_skipped, hash_add, out };
	struct fatbin_entry entry;
	size_t at = 0, got;
	bool newer = false, code = false;

	out->report.status = GPUPROBE_NO_PTX;
	while (fatbin_next(container, size, &at, &entry) > 0) {
		const char *why;
		char *elf;

		if (!out->report.sm)
			out->report.sm = entry.image.sm;
		newer |= entry.image.kind == FATBIN_PTX;
		if (entry.image.kind == FATBIN_LTO && !code)
			out->report.status = GPUPROBE_LINKED;
		/* the code for each architecture has the same kernels */
		if (entry.image.kind != FATBIN_ELF || code || !fatbin_runs(&entry.image, job->sm))
			continue;
		code = true;
		elf = fatbin_unpack(&entry, &got, &why);
		out->report.status = GPUPROBE_NO_PTX;
		if (elf)
			cubin_read(elf, got, &reader);
		free(elf);
	}
	if (newer && out->report.status != GPUPROBE_THERE)
		out->report.status = GPUPROBE_NEWER;
}

static void rewrite_container(struct image_job *job, const void *container, size_t size)
{
	struct fatbin_edit edit = { .ptx = rewrite_ptx, .ctx = job, .sm = job->sm };
	const char *why;

	size = fatbin_size(container, size);
	if (!size) {
		job->out->report.status = GPUPROBE_BAD;
		return;
	}
	job->out->data = fatbin_edit(container, size, &edit, &job->out->size, &why);
	if (why) {
		job->out->report.status = GPUPROBE_BAD;
		image_note(job->out, why);
	} else if (!job->seen) {
		explain_container(job, container, size);
	}
}

/* Returns a copy of the wrapper and the new container in one block of memory. */
static void rewrite_wrapped(struct image_job *job, const struct fatbin_wrapper *wrapper)
{
	struct fatbin_wrapper copy = *wrapper;
	struct image *out = job->out;
	char *both;

	rewrite_container(job, (const void *)(uintptr_t)wrapper->data, UNKNOWN);
	if (!out->data)
		return;
	both = malloc(sizeof(copy) + out->size);
	if (both) {
		copy.data = (uintptr_t)(both + sizeof(copy));
		memcpy(both, &copy, sizeof(copy));
		memcpy(both + sizeof(copy), out->data, out->size);
	}
	free(out->data);
	out->data = both;
}

void image_rewrite(struct image *out, struct gpuprobe *state, const void *image, size_t size, unsigned sm,
		   struct registers *registers)
{
	struct image_job job = { out, state, registers, sm, false };
	size_t room = size ? size : UNKNOWN, n;
	uint64_t begun = clock_ns();
	uint32_t magic = 0;

	*out = (struct image){ 0 };
	memcpy(&magic, image, room < sizeof(magic) ? room : sizeof(magic));
	if (magic == FATBIN_WRAPPER && room >= sizeof(struct fatbin_wrapper)) {
		rewrite_wrapped(&job, image);
	} else if (magic == FATBIN_MAGIC) {
		rewrite_container(&job, image, room);
	} else if (!memcmp(&magic, "\177ELF", 4)) {
		rewrite_code(&job, image, room);
	} else {
		n = strnlen(image, room < TEXT_MAX ? room : TEXT_MAX);
		out->data = rewrite_text(&job, image, &n);
		out->size = n + 1;
	}
	out->report.ns = clock_ns() - begun;
}

void image_free(struct image *image)
{
	free(image->data);
	free(image->text);
}
