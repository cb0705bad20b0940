/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "ptxrun_world.h"
#include "module.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { WORLD_BUFFER = 1 << 20, WORLD_BUFFERS = 24, WORLD_SIZE = WORLD_BUFFER * WORLD_BUFFERS };

/* What numbers are, and what buffers have: small integers and floats; zeroes; addresses of buffers. */
enum pattern { NUMBERS, ZEROES, ADDRESSES };

static const struct {
	unsigned number;
	enum pattern pattern;
} made_up[WORLD_ARGUMENTS] = {
	{ 64, NUMBERS }, { 64, ZEROES }, { 16, NUMBERS }, { 16, ADDRESSES }, { 2, ZEROES }, { 1, NUMBERS },
};

static bool mapped(void *ctx, uint64_t addr, uint64_t *low, uint64_t *high)
{
	const struct world *w = ctx;
	uint64_t base = (uintptr_t)w->buffers;

	*low = base;
	*high = base + WORLD_SIZE;
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
	if (w->num_variables < sizeof w->variables / sizeof *w->variables && size <= 1u << 30)
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
	struct world *w = ctx;

	for (size_t i = 0; i < size; i++)
		w->printed = (w->printed ^ (unsigned char)text[i]) * 0x100000001b3;
	if (!w->quiet)
		fwrite(text, 1, size, stdout);
}

struct world *world_new(void)
{
	struct world *w = calloc(1, sizeof *w);

	if (!w)
		exit(1);
	w->buffers = mmap(NULL, WORLD_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (w->buffers == MAP_FAILED)
		exit(1);
	w->pattern_of = WORLD_ARGUMENTS;
	w->pattern = malloc(WORLD_SIZE);
	if (!w->pattern)
		exit(1);
	w->host = (struct interp_host){ w, mapped, variable, variable_free, texture, heap_alloc, heap_free, print };
	return w;
}

void world_free(struct world *w)
{
	munmap(w->buffers, WORLD_SIZE);
	for (unsigned i = 0; w->saved_values && w->saved_values[i]; i++)
		free(w->saved_values[i]);
	free(w->saved_values);
	free(w->pattern);
	free(w->saved);
	free(w);
}

static void make_pattern(struct world *w)
{
	uint32_t *words = (void *)w->pattern;

	if (made_up[w->arguments].pattern == NUMBERS)	/* every seventh is a float near 1 */
		for (uint32_t i = 0; i < WORLD_SIZE / 4; i++)
			words[i] = i % 7 ? i * 2654435761u >> 25 : 0x3f800000u + (i & 0xff) * 4096;
	if (made_up[w->arguments].pattern == ZEROES)
		memset(w->pattern, 0, WORLD_SIZE);
	if (made_up[w->arguments].pattern == ADDRESSES)
		for (uint32_t i = 0; i < WORLD_SIZE / 8; i++)
			((uint64_t *)(void *)w->pattern)[i] = (uintptr_t)world_argument(w, i);
	w->pattern_of = w->arguments;
}

void world_fill(struct world *w)
{
	w->heap_used = 0;
	w->printed = 0;
	if (w->pattern_of != w->arguments)
		make_pattern(w);
	memcpy(w->buffers, w->pattern, WORLD_SIZE);
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

		for (size_t at = 0; at < p->size; at += 4) {
			uint64_t value = made_up[w->arguments].number;
			size_t n = p->size - at < 4 ? p->size - at : 4;

			if (at % 8 == 0 && p->size - at >= 8 && at < 512 && p->addresses >> at / 8 & 1) {
				value = (uintptr_t)world_argument(w, buffer++);
				n = 8;
			} else if (at % 8 && p->size == 8) {
				continue;	/* a number of 64 bits */
			}
			memcpy(params + p->offset + at, &value, n);
			at += n == 8 ? 4 : 0;
		}
	}
	interp_launch(kernel, grid, params, fault);
	free(params);
}

struct world_module world_module(struct interp_module *m)
{
	struct world_module w = { m, calloc(m->num_variables + 1, sizeof *w.values) };

	for (unsigned i = 0; i < m->num_variables; i++) {
		if (w.values)
			w.values[i] = malloc(m->variables[i].size + 1);
		if (!w.values || !w.values[i])
			exit(1);
		memcpy(w.values[i], (void *)(uintptr_t)m->variables[i].addr, m->variables[i].size);
	}
	return w;
}

void world_module_free(struct world_module *w)
{
	for (unsigned i = 0; i < w->module->num_variables; i++)
		free(w->values[i]);
	free(w->values);
	interp_free(w->module);
}

void world_restore(const struct world_module *w)
{
	for (unsigned i = 0; i < w->module->num_variables; i++) {
		const struct variable *v = &w->module->variables[i];

		memcpy((void *)(uintptr_t)v->addr, w->values[i], v->size);
	}
}

bool world_changed(const struct world *w, const struct world_module *m)
{
	for (unsigned i = 0; i < m->module->num_variables; i++) {
		const struct variable *v = &m->module->variables[i];

		if (memcmp((void *)(uintptr_t)v->addr, m->values[i], v->size) != 0)
			return true;
	}
	return w->printed || memcmp(w->buffers, w->pattern, WORLD_SIZE) != 0;
}

void world_save(struct world *w, const struct world_module *m)
{
	unsigned n = m->module->num_variables;

	if (!w->saved) {
		w->saved = malloc(WORLD_SIZE);
		w->saved_values = calloc(n + 1, sizeof *w->saved_values);
		for (unsigned i = 0; w->saved_values && i < n; i++) {
			w->saved_values[i] = malloc(m->module->variables[i].size + 1);
			if (!w->saved_values[i])
				exit(1);
		}
	}
	if (!w->saved || !w->saved_values)
		exit(1);
	memcpy(w->saved, w->buffers, WORLD_SIZE);
	for (unsigned i = 0; i < n; i++)
		memcpy(w->saved_values[i], (void *)(uintptr_t)m->module->variables[i].addr, m->module->variables[i].size);
	w->saved_printed = w->printed;
}

static bool variable_same(const struct world *w, const struct world_module *a, const struct world_module *b, unsigned i,
			  unsigned k)
{
	const struct variable *x = &a->module->variables[i], *y = &b->module->variables[k];
	const unsigned char *p = w->saved_values[i], *q = (void *)(uintptr_t)y->addr;

	if (x->size != y->size)
		return false;
	for (size_t at = 0; at < x->size; at++)
		if (p[at] != q[at] && (p[at] != a->values[i][at] || q[at] != b->values[k][at]))
			return false;
	return true;
}

bool world_saved(struct world *w, const struct world_module *a, const struct world_module *b)
{
	size_t at = 0;

	for (unsigned i = 0; i < a->module->num_variables; i++) {
		const char *name = a->module->variables[i].name;
		unsigned k = 0;

		while (k < b->module->num_variables && strcmp(name, b->module->variables[k].name))
			k++;
		if (k == b->module->num_variables || !variable_same(w, a, b, i, k)) {
			snprintf(w->differs, sizeof w->differs, "variable %s", name);
			return false;
		}
	}
	if (!memcmp(w->saved, w->buffers, WORLD_SIZE)) {
		snprintf(w->differs, sizeof w->differs, "what is printed");
		return w->saved_printed == w->printed;
	}
	while (w->saved[at] == w->buffers[at])
		at++;
	snprintf(w->differs, sizeof w->differs, "byte %zu of buffer %zu", at % WORLD_BUFFER, at / WORLD_BUFFER);
	return false;
}
