/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "gpuprobe/cubin.h"
#include "gpuprobe/image.h"
#include "gpuprobe/image_text.h"
#include "ptx/fatbin.h"

/* No size is known of what the program passes to the driver, which believes the image, too. */
enum { TEXT_MAX = 1 << 30 };
#define UNKNOWN (SIZE_MAX / 4)

void image_why(struct image *image, const char *why)
{
	size_t n = strlen(why);
	char *more = realloc(image->text, image->text_size + n + 2);

	if (!more)
		return;
	image->text = more;
	image->text_size += (size_t)sprintf(more + image->text_size, "%s%s", image->text_size ? "\n" : "", why);
	image->told.text_size = (uint32_t)image->text_size;
}

static void kernel_left(void *ctx, const char *name)
{
	struct image *image = ctx;

	image->told.kernels++;
	if (image->text_size < GPUPROBE_FRAME_MAX / 2)
		image_why(image, name);
}

static void hash_add(void *ctx, uint32_t hash)
{
	struct image *image = ctx;

	image->told.status = GPUPROBE_THERE;
	for (unsigned i = 0; i < image->num_hashes; i++)
		if (image->hashes[i] == hash)
			return;
	if (image->num_hashes < IMAGE_HASHES)
		image->hashes[image->num_hashes++] = hash;
}

/* Machine code: NVRTC's PTX of it, what it has already, or the names of what is in it. */
static void rewrite_code(struct image_job *job, const void *code, size_t size)
{
	struct image *out = job->out;
	struct cubin_reader reader = { kernel_left, hash_add, out };
	size_t num;
	char *ptx;

	size = cubin_size(code, size);
	pthread_mutex_lock(&job->inject->lock);
	ptx = size ? nvrtc_ptx(&job->inject->nvrtc, code, size, &num) : NULL;
	pthread_mutex_unlock(&job->inject->lock);
	if (ptx) {
		out->data = image_text(job, ptx, &num);
		out->size = num;
		free(ptx);
		return;
	}
	out->told.status = GPUPROBE_NO_PTX;
	cubin_read(code, size, &reader);
}

static char *rewrite_ptx(void *ctx, const struct fatbin_image *image, const char *text, size_t *size)
{
	struct image_job *job = ctx;

	job->out->told.sm = image->sm;
	job->seen = true;
	return image_text(job, text, size);
}

/* Nothing in a container could be changed: says why. */
static void helper_into(struct image_job *job, const void *container, size_t size)
{
	struct image *out = job->out;
	struct cubin_reader reader = { kernel_left, hash_add, out };
	struct fatbin_entry entry;
	size_t at = 0, got;
	bool newer = false, code = false;

	out->told.status = GPUPROBE_NO_PTX;
	while (fatbin_next(container, size, &at, &entry) > 0) {
		const char *why;
		char *elf;

		if (!out->told.sm)
			out->told.sm = entry.image.sm;
		newer |= entry.image.kind == FATBIN_PTX;
		if (entry.image.kind == FATBIN_LTO && !code)
			out->told.status = GPUPROBE_LINKED;
		/* each architecture's has the same kernels */
		if (entry.image.kind != FATBIN_ELF || code || !fatbin_runs(&entry.image, job->sm))
			continue;
		code = true;
		elf = fatbin_unpack(&entry, &got, &why);
		out->told.status = GPUPROBE_NO_PTX;
		if (elf)
			cubin_read(elf, got, &reader);
		free(elf);
	}
	if (newer && out->told.status != GPUPROBE_THERE)
		out->told.status = GPUPROBE_NEWER;
}

static void rewrite_container(struct image_job *job, const void *container, size_t size)
{
	struct fatbin_edit edit = { .ptx = rewrite_ptx, .ctx = job, .sm = job->sm };
	const char *why;

	size = fatbin_size(container, size);
	if (!size) {
		job->out->told.status = GPUPROBE_BAD;
		return;
	}
	job->out->data = fatbin_edit(container, size, &edit, &job->out->size, &why);
	if (why) {
		job->out->told.status = GPUPROBE_BAD;
		image_why(job->out, why);
	} else if (!job->seen) {
		helper_into(job, container, size);
	}
}

/* The wrapper's copy and the container are one block of memory. */
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

void image_rewrite(struct image *out, struct inject *inject, const void *image, size_t size, unsigned sm,
		   struct registers *registers)
{
	struct image_job job = { out, inject, registers, sm, false };
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
		out->data = image_text(&job, image, &n);
		out->size = n + 1;
	}
	out->told.ns = clock_ns() - begun;
}

void image_free(struct image *image)
{
	free(image->data);
	free(image->text);
}
