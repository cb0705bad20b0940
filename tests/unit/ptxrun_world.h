/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A made-up device: buffers with a pattern, arguments that fit any kernel, the variables of a module. */
#ifndef TESTS_UNIT_PTXRUN_WORLD_H
#define TESTS_UNIT_PTXRUN_WORLD_H
#include "interp.h"

struct world_block {
	uint64_t addr;
	size_t size;
};

struct world {
	struct interp_host host;
	unsigned arguments;		/* which of WORLD_ARGUMENTS ways to make them up */
	bool quiet;			/* what kernels print is not printed */
	unsigned char *buffers, *saved;	/* of WORLD_BUFFERS times WORLD_BUFFER bytes */
	unsigned char *pattern;		/* what they are filled with, for pattern_of */
	unsigned pattern_of;
	unsigned char **saved_values;	/* of a module's variables */
	uint64_t printed, saved_printed;	/* a hash of what kernels printed */
	char differs[160];		/* what world_saved() found */
	size_t heap_used;		/* of the last buffer */
	struct world_block variables[8192];
	unsigned num_variables;
};

/* A module, and what its variables had when it was loaded. */
struct world_module {
	struct interp_module *module;
	unsigned char **values;
};

enum { WORLD_ARGUMENTS = 6 };

struct world *world_new(void);
void world_free(struct world *world);
/* Fills the buffers with their pattern; nothing was printed. */
void world_fill(struct world *world);
/* Runs a kernel with pointers into the buffers, and small numbers for the rest: what `like` takes for pointers. */
void world_launch(struct world *world, const struct interp_kernel *like, struct interp_kernel *kernel,
		  struct interp_grid *grid, struct interp_fault *fault);
/* Return the buffer of the nth argument that is an address. */
void *world_argument(const struct world *world, unsigned n);
struct world_module world_module(struct interp_module *module);
void world_module_free(struct world_module *module);
/* Gives a module's variables their first values. */
void world_restore(const struct world_module *module);
/* Return true if a kernel changed a buffer or variable, or printed something. */
bool world_changed(const struct world *world, const struct world_module *module);
/* Keeps what the buffers and variables have now, and what was printed. */
void world_save(struct world *world, const struct world_module *module);
/* Return true if `now` has left the same as was saved of `saved`; else world->differs says what it is not.  Variables are
 * compared by name; initial values may be addresses, which differ. */
bool world_saved(struct world *world, const struct world_module *saved, const struct world_module *now);

#endif
