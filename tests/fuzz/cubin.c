/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes what reads machine code for GPUs. */
#include "agent/gpuprobe/cubin.h"
#include "fuzz.h"

struct seen {
	const char *begin, *end;
	unsigned hashes;
};

/* Names are within the file. */
static void kernel(void *ctx, const char *name)
{
	const struct seen *seen = ctx;

	CHECK(name >= seen->begin && name < seen->end && name + strlen(name) < seen->end);
}

static void instrumented(void *ctx, uint32_t hash)
{
	((struct seen *)ctx)->hashes += hash != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size + !size);	/* nothing may be read behind it */
	struct seen seen = { copy, copy + size, 0 };
	struct cubin_reader reader = { kernel, instrumented, &seen };

	memcpy(copy, data, size);
	CHECK(cubin_size(copy, size) <= size);
	cubin_read(copy, size, &reader);
	free(copy);
	return 0;
}
