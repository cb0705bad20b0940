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
	for (unsigned i = 0; i < w->num_variables + w->num_heap; i++) {
		const struct world_block *b = i < w->num_variables ? &w->variables[i] : &w->heap[i - w->num_variables];

		*low = b->addr;
		*high = b->addr + b->size;
		if (b->addr && addr >= *low && addr < *high)
			return true;
	}
	return false;
}

static uint64_t add(struct world_block *all, unsigned *num, size_t size)
{
	void *p;

	if (*num == 4096 || size > 1u << 30)
		return 0;
	size = (size + 511) & ~(size_t)511;
	p = aligned_alloc(512, size);
	if (!p)
		return 0;
	memset(p, 0, size);
	all[(*num)++] = (struct world_block){ (uintptr_t)p, size };
	return (uintptr_t)p;
}

static void drop(struct world_block *all, unsigned num, uint64_t addr)
{
	for (unsigned i = 0; i < num; i++)
		if (all[i].addr && all[i].addr == addr) {
			free((void *)(uintptr_t)addr);
			all[i].addr = 0;
		}
}

static uint64_t variable(void *ctx, size_t size)
{
	struct world *w = ctx;

	return add(w->variables, &w->num_variables, size);
}

static void variable_free(void *ctx, uint64_t addr)
{
	struct world *w = ctx;

	drop(w->variables, w->num_variables, addr);
}

static uint64_t heap_alloc(void *ctx, size_t size)
{
	struct world *w = ctx;

	return add(w->heap, &w->num_heap, size ? size : 1);
}

static void heap_free(void *ctx, uint64_t addr)
{
	struct world *w = ctx;

	drop(w->heap, w->num_heap, addr);
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
	for (unsigned i = 0; i < w->num_heap; i++)
		drop(w->heap, w->num_heap, w->heap[i].addr);
	free(w);
}

/* Small integers, and every seventh a float near 1. */
void world_fill(struct world *w)
{
	uint32_t *words = (void *)w->buffers;

	for (uint32_t i = 0; i < (uint32_t)WORLD_BUFFER * WORLD_BUFFERS / 4; i++)
		words[i] = i % 7 ? i * 2654435761u >> 25 : 0x3f800000u + (i & 0xff) * 4096;
}

void world_launch(struct world *w, struct interp_kernel *kernel, struct interp_grid *grid, struct interp_fault *fault)
{
	struct interp_info info;
	unsigned char *params;
	unsigned buffer = 0;

	interp_info(kernel, &info);
	params = calloc(1, info.param_size + 8);
	if (!params)
		exit(1);
	for (unsigned i = 0; i < info.num_params; i++) {
		const struct interp_param *p = &info.params[i];

		for (size_t at = 0; at < p->size; at += 8) {
			uint64_t value = p->pointer || p->size > 8 ?
				(uintptr_t)w->buffers + (uint64_t)WORLD_BUFFER * (buffer++ % WORLD_BUFFERS) + WORLD_BUFFER / 4 : WORLD_NUMBER;

			memcpy(params + p->offset + at, &value, p->size - at < 8 ? p->size - at : 8);
		}
	}
	interp_launch(kernel, grid, params, fault);
	free(params);
}

bool world_same(const struct world *a, const struct world *b)
{
	const uint64_t *x = (const void *)a->buffers, *y = (const void *)b->buffers;
	uint64_t apart = (uintptr_t)b->buffers - (uintptr_t)a->buffers;

	for (size_t i = 0; i < (size_t)WORLD_BUFFER * WORLD_BUFFERS / 8; i++)
		if (x[i] != y[i] && x[i] + apart != y[i])
			return false;
	return true;
}
