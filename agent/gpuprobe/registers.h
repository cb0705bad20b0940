/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Registers and shared memory that the kernels of an original image need.  Rewritten kernels must accept the same launches
 * and report the same attributes. */
#ifndef AGENT_GPUPROBE_REGISTERS_H
#define AGENT_GPUPROBE_REGISTERS_H
#include <stdbool.h>
#include "agent/gpuprobe/modules.h"

struct original_kernel {
	struct original_kernel *next;
	int attributes[KERNEL_ATTRIBUTES], dynamic;	/* reported by the driver */
	const void *handle;			/* in the rewritten image, or NULL */
	char name[];
};

/* The original is loaded at the first registers_limit(). */
struct registers {
	const struct loading *how;	/* NULL: kernels are unknown */
	const void *image;
	CUdevice device;
	bool keep;		/* as many warps as the original; else as many threads in a block */
	bool tried;
	void *handle;
	struct original_kernel *kernels;
};

/* Returns the .maxnreg of a kernel, 0 if unknown; struct instrument's callback. */
unsigned registers_limit(void *registers, const char *name, size_t n);

/* Finds the kernels in the rewritten image, and restores their limits of dynamic shared memory.  Returns how many have
 * fewer resident warps than the originals, by their registers. */
unsigned registers_replaced(const struct registers *r, void *handle);

/* Records the originals' attributes for the wrappers of cuFuncGetAttribute().  With the lock held. */
void registers_remember(const struct registers *r, struct kernels *kernels, const struct module *module);

void registers_free(struct registers *r);

#endif
