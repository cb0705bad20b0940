/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the driver is to say of kernels that were rewritten: what it said of the originals.  All functions want the lock
 * of struct inject held. */
#ifndef GPUPROBE_KERNELS_H
#define GPUPROBE_KERNELS_H
#include <stdbool.h>
#include "gpuprobe/cuda.h"

/* By CUfunction_attribute: those from CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK on that cannot be set. */
enum { KERNEL_ATTRIBUTES = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES };

enum { KERNELS_BUCKETS = 1024 };

struct kernel {
	struct kernel *next;
	const void *handle;		/* a CUfunction or CUkernel */
	const void *module;		/* that it is of */
	const bool *gone, *context_gone;	/* true if that is not there any longer; NULL: there is no context */
	CUdevice device;		/* that the attributes are of */
	int attributes[KERNEL_ATTRIBUTES];
	int asked, given;		/* bytes of dynamic shared memory; 0: all that was asked for was given */
};

struct kernels {
	struct kernel *bucket[KERNELS_BUCKETS];
};

/* Adds a copy of one, or replaces the one with its handle. */
void kernels_add(struct kernels *kernels, const struct kernel *kernel);

/* Returns what is known of a handle, or NULL. */
struct kernel *kernels_find(const struct kernels *kernels, const void *handle);

/* Forgets those of a module. */
void kernels_forget(struct kernels *kernels, const void *module);

#endif
