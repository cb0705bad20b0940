/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the kernels of an original image need: registers, shared memory.  What replaces it is to be launched as it
 * could be, and to say of itself what it said. */
#ifndef GPUPROBE_REGISTERS_H
#define GPUPROBE_REGISTERS_H
#include <stdbool.h>
#include "gpuprobe/kernels.h"
#include "gpuprobe/loading.h"

struct original_kernel {
	struct original_kernel *next;
	int attributes[KERNEL_ATTRIBUTES], dynamic;	/* as the driver says */
	const void *handle;			/* in what replaces it, or NULL */
	char name[];
};

/* The original is loaded when the first kernel is asked about. */
struct registers {
	const struct loading *how;	/* NULL: nothing is known of any kernel */
	const void *image;
	CUdevice device;
	bool keep;		/* as many warps as the original; else as many threads in a block */
	bool tried;
	void *handle;
	struct original_kernel *kernels;
};

/* Returns the .maxnreg of a kernel, 0 if it cannot be known; as struct instrument has it. */
unsigned registers_limit(void *registers, const char *name, size_t n);

/* Finds the kernels in what replaces the original, and lets them have as much dynamic shared memory as they could.
 * Returns how many have fewer resident warps there, by their registers. */
unsigned registers_replaced(const struct registers *r, void *handle);

/* Has the driver say of the kernels of a module what it said of the originals.  With the lock held. */
void registers_remember(const struct registers *r, struct kernels *kernels, const struct module *module);

void registers_free(struct registers *r);

#endif
