/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "ptxrun_world.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { WORLD_BUFFER = 1 << 20, WORLD_BUFFERS = 24, WORLD_NUMBER = 64 };

static bool mapped(void *ctx, uint64_t addr, uint64_t *low, uint64_t *high)
{
	const struct world *w = ctx;
	uint64_t base = (uintptr_t)w->buffers;

	*low = base;
	*high = base + (uint64_t)WORLD_BUFFER * WORLD_BUFFERS;
	if (addr >= *low && addr < *high)
		return true;
	for (unsigned i = 0; i < w->num_variables; i++) {
		*low = w->variables[i].addr;
		*high = *low + w->variables[i].size;
		if (*low && addr >= *low && addr < *high)
			return true;
	}
	return false;
}

static uint64_t variable(void *ctx, size_t size)
{
	struct world *w = ctx;
	void *p = NULL;

	size = (size + 511) & ~(size_t)511;
	if (w->num_variables < 4096 && size <= 1u << 30)
		p = aligned_alloc(512, size);
	if (!p)
		return 0;
	memset(p, 0, size);
	w->variables[w->num_variables++] = (struct world_block){ (uintptr_t)p, size };
	return (uintptr_t)p;
}

static void variable_free(void *ctx, uint64_t addr)
{
	struct world *w = ctx;

	for (unsigned i = 0; i < w->num_variables; i++)
		if (w->variables[i].addr == addr) {
			free((void *)(uintptr_t)addr);
			w->variables[i] = w->variables[--w->num_variables];
			return;
		}
}

/* What is freed is not used again: the same calls have the same addresses. */
static uint64_t heap_alloc(void *ctx, size_t size)
{
	struct world *w = ctx;
	uint64_t addr = (uintptr_t)w->buffers + (uint64_t)WORLD_BUFFER * (WORLD_BUFFERS - 1) + w->heap_used;

	if (size > WORLD_BUFFER || w->heap_used + ((size + 31) & ~(size_t)15) > WORLD_BUFFER)
		return 0;
	w->heap_used += (size + 31) & ~(size_t)15;
	return addr;
}

static void heap_free(void *ctx, uint64_t addr)
{
	(void)ctx, (void)addr;
}

/* A texture of 32 times 32 floats, whatever the handle. */
static bool texture(void *ctx, uint64_t handle, struct interp_texture *t)
{
	const struct world *w = ctx;

	(void)handle;
	*t = (struct interp_texture){ .addr = (uintptr_t)w->buffers, .dims = 2, .size = { 32, 32, 1 }, .pitch = 128, .slice = 4096,
				      .channels = 1, .bits = 32, .type = 'f' };
	return true;
}

static void print(void *ctx, const char *text, size_t size)
{
	(void)ctx;
	fwrite(text, 1, size, stdout);
}

struct world *world_new(void)
{
	struct world *w = calloc(1, sizeof *w);

	if (!w)
		exit(1);
	w->buffers = mmap(NULL, (size_t)WORLD_BUFFER * WORLD_BUFFERS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (w->buffers == MAP_FAILED)
		exit(1);
	w->host = (struct interp_host){ w, mapped, variable, variable_free, texture, heap_alloc, heap_free, print };
	return w;
}

void world_free(struct world *w)
{
	munmap(w->buffers, (size_t)WORLD_BUFFER * WORLD_BUFFERS);
	free(w->saved);
	free(w);
}

/* Small integers, and every seventh a float near 1. */
void world_fill(struct world *w)
{
	uint32_t *words = (void *)w->buffers;

	w->heap_used = 0;
	for (uint32_t i = 0; i < (uint32_t)WORLD_BUFFER * WORLD_BUFFERS / 4; i++)
		words[i] = i % 7 ? i * 2654435761u >> 25 : 0x3f800000u + (i & 0xff) * 4096;
}

/* Addresses a little below it are mapped, too. */
void *world_argument(const struct world *w, unsigned n)
{
	return w->buffers + (size_t)WORLD_BUFFER * (n % (WORLD_BUFFERS - 1)) + WORLD_BUFFER / 4;
}

void world_launch(struct world *w, const struct interp_kernel *like, struct interp_kernel *kernel, struct interp_grid *grid,
		  struct interp_fault *fault)
{
	struct interp_info info;
	unsigned char *params;
	unsigned buffer = 0;

	interp_info(like, &info);
	params = calloc(1, info.param_size + 8);
	if (!params)
		exit(1);
	for (unsigned i = 0; i < info.num_params; i++) {
		const struct interp_param *p = &info.params[i];

		for (size_t at = 0; at < p->size; at += 8) {
			uint64_t value = p->pointer || p->size > 8 ? (uintptr_t)world_argument(w, buffer++) : WORLD_NUMBER;

			memcpy(params + p->offset + at, &value, p->size - at < 8 ? p->size - at : 8);
		}
	}
	interp_launch(kernel, grid, params, fault);
	free(params);
}

void world_save(struct world *w)
{
	if (!w->saved)
		w->saved = malloc((size_t)WORLD_BUFFER * WORLD_BUFFERS);
	if (!w->saved)
		exit(1);
	memcpy(w->saved, w->buffers, (size_t)WORLD_BUFFER * WORLD_BUFFERS);
}

bool world_saved(const struct world *w)
{
	return !memcmp(w->saved, w->buffers, (size_t)WORLD_BUFFER * WORLD_BUFFERS);
}
