/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A made-up device: buffers with a pattern, arguments that fit any kernel, the variables of a module. */
#ifndef PTXRUN_WORLD_H
#define PTXRUN_WORLD_H
#include "interp.h"

struct world_block {
	uint64_t addr;
	size_t size;
};

struct world {
	struct interp_host host;
	unsigned char *buffers;		/* of WORLD_BUFFERS times WORLD_BUFFER bytes */
	struct world_block variables[4096], heap[4096];
	unsigned num_variables, num_heap;
};

struct world *world_new(void);
void world_free(struct world *world);
/* Fills the buffers with their pattern. */
void world_fill(struct world *world);
/* Runs a kernel with pointers into the buffers, and small numbers for the rest. */
void world_launch(struct world *world, struct interp_kernel *kernel, struct interp_grid *grid, struct interp_fault *fault);
/* Return true if the buffers of both are the same.  (Where pointers are stored, both worlds' addresses differ: they are
 * compared as offsets.) */
bool world_same(const struct world *a, const struct world *b);

#endif
