/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "agent/gpuprobe/modules.h"

CUresult loading_call(const struct loading *how, void **handle, const void *image)
{
	const struct driver *d = how->driver;
	bool from_file = how->file && !image;

	/* the driver overwrites the size of a log buffer with the length of the log */
	if (how->jit_before)
		memcpy(how->jit_values, how->jit_before, how->num_jit * sizeof(*how->jit_values));
	if (how->kind == LIBRARY)
		return from_file ? d->cuLibraryLoadFromFile(handle, how->file, how->jit, how->jit_values, how->num_jit,
							    how->options, how->values, how->num) :
				   d->cuLibraryLoadData(handle, image, how->jit, how->jit_values, how->num_jit,
							how->options, how->values, how->num);
	if (from_file)
		return d->cuModuleLoad(handle, how->file);
	switch (how->function) {
	case LOAD_DATA_EX: return d->cuModuleLoadDataEx(handle, image, how->num_jit, how->jit, how->jit_values);
	case LOAD_FAT_BINARY: return d->cuModuleLoadFatBinary(handle, image);
	default: return d->cuModuleLoadData(handle, image);
	}
}

CUresult loading_unload(const struct loading *how, void *handle)
{
	return how->kind == MODULE ? how->driver->cuModuleUnload(handle) : how->driver->cuLibraryUnload(handle);
}

static unsigned bucket(const void *handle)
{
	return (unsigned)(((uintptr_t)handle >> 4) * 2654435761u >> 8) % KERNELS_BUCKETS;
}

/* The driver may reuse a handle before the module is swept. */
static bool is_there(const struct kernel *k)
{
	return !*k->gone && !(k->context_gone && *k->context_gone);
}

struct kernel *kernels_find(const struct kernels *kernels, const void *handle)
{
	struct kernel *k = kernels->bucket[bucket(handle)];

	while (k && (k->handle != handle || !is_there(k)))
		k = k->next;
	return k;
}

void kernels_add(struct kernels *kernels, const struct kernel *kernel)
{
	struct kernel **first = &kernels->bucket[bucket(kernel->handle)], *k = kernels_find(kernels, kernel->handle);
	struct kernel *next;

	if (!k) {
		k = malloc(sizeof(*k));
		if (!k)
			return;
		k->next = *first;
		*first = k;
	}
	next = k->next;
	*k = *kernel;
	k->next = next;
}

static void kernels_forget(struct kernels *kernels, const void *module)
{
	for (unsigned i = 0; i < KERNELS_BUCKETS; i++)
		for (struct kernel **p = &kernels->bucket[i], *k; (k = *p); ) {
			if (k->module != module) {
				p = &k->next;
				continue;
			}
			*p = k->next;
			free(k);
		}
}

struct context *modules_context(struct modules *modules, CUcontext ctx, CUdevice device)
{
	struct context *c = modules->contexts;

	if (!ctx)
		return NULL;
	while (c && (c->ctx != ctx || c->closed))
		c = c->next;
	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (c) {
		c->ctx = ctx;
		c->device = device;
		c->number = ++modules->num_contexts;
		c->next = modules->contexts;
		modules->contexts = c;
	}
	return c;
}

struct module *modules_find(struct modules *modules, const void *handle, enum module_kind kind)
{
	struct module *m = modules->first;

	while (m && (m->handle != handle || m->kind != kind || m->closed))
		m = m->next;
	return m;
}

struct module *modules_add(struct modules *modules, const struct module *like)
{
	struct module *m = malloc(sizeof(*m));

	if (!m)
		return NULL;
	*m = *like;
	m->next = modules->first;
	modules->first = m;
	return m;
}

void modules_linked_add(struct modules *modules, const uint32_t *hashes, unsigned n)
{
	uint32_t *more = realloc(modules->linked, (modules->num_linked + n) * sizeof(*more));

	if (!more)
		return;
	memcpy(more + modules->num_linked, hashes, n * sizeof(*more));
	modules->linked = more;
	modules->num_linked += n;
}

bool modules_linked(const struct modules *modules, const uint32_t *hashes, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		size_t j = 0;

		while (j < modules->num_linked && modules->linked[j] != hashes[i])
			j++;
		if (j == modules->num_linked)
			return false;
	}
	return n > 0;
}

static void module_free(struct module *m)
{
	struct instance *i;

	while ((i = m->instances)) {
		m->instances = i->next;
		free(i->read);
		free(i);
	}
	free(m->hashes);
	free(m->image);
	free(m);
}

void modules_sweep(struct modules *modules)
{
	struct module **p = &modules->first, *m;

	while ((m = *p)) {
		if (m->context && m->context->gone)
			m->gone = true;
		if (!m->gone || m->busy || m->unloading) {
			p = &m->next;
			continue;
		}
		*p = m->next;
		kernels_forget(&modules->kernels, m);
		module_free(m);
	}
}
