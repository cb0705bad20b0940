/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdint.h>
#include <stdlib.h>
#include "gpuprobe/kernels.h"

static unsigned bucket(const void *handle)
{
	return (unsigned)(((uintptr_t)handle >> 4) * 2654435761u >> 8) % KERNELS_BUCKETS;
}

/* The driver may use the handle again before the module has been swept. */
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

void kernels_forget(struct kernels *kernels, const void *module)
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
