/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Machine code for GPUs: ELF files.  Hostile: every offset is checked. */
#ifndef AGENT_GPUPROBE_CUBIN_H
#define AGENT_GPUPROBE_CUBIN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the bytes of the ELF file that begins at p, of which size bytes may be read (SIZE_MAX: as many as it says);
 * 0 if it is none. */
size_t cubin_size(const void *p, size_t size);

/* Calls back for each kernel, and for each instrumented PTX in the code. */
struct cubin_reader {
	void (*kernel)(void *ctx, const char *name);
	void (*instrumented)(void *ctx, uint32_t hash);
	void *ctx;
};
void cubin_read(const void *p, size_t size, const struct cubin_reader *reader);

#endif
