/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The PTX of machine code that NVRTC made: most programs get only the code from NVRTC, which has both. */
#ifndef AGENT_GPUPROBE_NVRTC_H
#define AGENT_GPUPROBE_NVRTC_H
#include <stddef.h>
#include <stdint.h>

struct nvrtc_made {
	struct nvrtc_made *next;
	uint64_t hash;		/* of the machine code */
	size_t code_size, size;
	char ptx[];
};

struct nvrtc {
	struct nvrtc_made *made;
	size_t bytes;
};

/* All functions require the lock of struct gpuprobe. */

/* Keeps a copy; the oldest are dropped beyond 256 MiB. */
void nvrtc_keep(struct nvrtc *nvrtc, const void *code, size_t code_size, const char *ptx, size_t size);

/* Returns a malloc'd copy of the PTX that machine code was made from, or NULL. */
char *nvrtc_ptx(const struct nvrtc *nvrtc, const void *code, size_t code_size, size_t *size);

#endif
