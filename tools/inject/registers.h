/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How many registers the kernels of an original image have, so that what replaces it can be launched as it could. */
#ifndef INJECT_REGISTERS_H
#define INJECT_REGISTERS_H
#include <stdbool.h>
#include "inject/loading.h"

struct kernel_registers {
	struct kernel_registers *next;
	int registers;
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
	struct kernel_registers *kernels;
};

/* Returns the .maxnreg of a kernel, 0 if it cannot be known; as struct instrument has it. */
unsigned registers_limit(void *registers, const char *name, size_t n);

/* Returns how many kernels have fewer resident warps in an image than in the original, by their registers. */
unsigned registers_fewer_warps(const struct registers *r, void *handle);

void registers_free(struct registers *r);

#endif
