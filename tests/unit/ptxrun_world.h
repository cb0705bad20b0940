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
	unsigned char *buffers, *saved;	/* of WORLD_BUFFERS times WORLD_BUFFER bytes */
	size_t heap_used;		/* of the last buffer */
	struct world_block variables[4096];
	unsigned num_variables;
};

struct world *world_new(void);
void world_free(struct world *world);
/* Fills the buffers with their pattern. */
void world_fill(struct world *world);
/* Runs a kernel with pointers into the buffers, and small numbers for the rest: what `like` takes for pointers. */
void world_launch(struct world *world, const struct interp_kernel *like, struct interp_kernel *kernel,
		  struct interp_grid *grid, struct interp_fault *fault);
/* Return the buffer of the nth argument that is an address. */
void *world_argument(const struct world *world, unsigned n);
/* Keeps what the buffers have now; return true if they still have it. */
void world_save(struct world *world);
bool world_saved(const struct world *world);

#endif
