/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "agent/gpuprobe/fnv.h"
#include "agent/gpuprobe/nvrtc.h"

enum { KEPT_MAX = 256 << 20 };

/* The newest is the first. */
static void forget_oldest(struct nvrtc *nvrtc)
{
	struct nvrtc_made **p = &nvrtc->made;

	if (!*p)
		return;
	while ((*p)->next)
		p = &(*p)->next;
	nvrtc->bytes -= (*p)->size;
	free(*p);
	*p = NULL;
}

void nvrtc_keep(struct nvrtc *nvrtc, const void *code, size_t code_size, const char *ptx, size_t size)
{
	struct nvrtc_made *m = size < KEPT_MAX ? malloc(sizeof(*m) + size + 1) : NULL;

	if (!m)
		return;
	m->hash = fnv64(code, code_size);
	m->code_size = code_size;
	m->size = size;
	memcpy(m->ptx, ptx, size);
	m->ptx[size] = 0;
	m->next = nvrtc->made;
	nvrtc->made = m;
	nvrtc->bytes += size;
	while (nvrtc->bytes > KEPT_MAX)
		forget_oldest(nvrtc);
}

char *nvrtc_ptx(const struct nvrtc *nvrtc, const void *code, size_t code_size, size_t *size)
{
	uint64_t hash = nvrtc->made ? fnv64(code, code_size) : 0;
	const struct nvrtc_made *m = nvrtc->made;
	char *copy;

	while (m && (m->hash != hash || m->code_size != code_size))
		m = m->next;
	copy = m ? malloc(m->size + 1) : NULL;
	if (copy) {
		memcpy(copy, m->ptx, m->size + 1);
		*size = m->size;
	}
	return copy;
}
