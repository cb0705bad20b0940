/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* FNV-1a, 64 bits; not collision resistant. */
#ifndef AGENT_GPUPROBE_FNV_H
#define AGENT_GPUPROBE_FNV_H
#include <stddef.h>
#include <stdint.h>

#define FNV64_BEGIN 14695981039346656037ull

static inline uint64_t fnv64_more(uint64_t h, const void *p, size_t n)
{
	for (const unsigned char *s = p; n; n--)
		h = (h ^ *s++) * 1099511628211ull;
	return h;
}

static inline uint64_t fnv64(const void *p, size_t n)
{
	return fnv64_more(FNV64_BEGIN, p, n);
}

#endif
