/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Contexts that are made before the first image is loaded: a library comes to each of them. */
#ifndef GPUPROBE_EARLY_H
#define GPUPROBE_EARLY_H
#include "gpuprobe/modules.h"

enum { EARLY_CONTEXTS = 64 };

/* More are not known.  Starts zeroed; wants a lock. */
struct early_contexts {
	struct { CUcontext ctx; CUdevice device; bool primary; } at[EARLY_CONTEXTS];
	unsigned n;
};
void early_add(struct early_contexts *early, CUcontext ctx, CUdevice device, bool primary);
void early_remove(struct early_contexts *early, CUcontext ctx);
void early_take(const struct early_contexts *early, struct modules *modules);

#endif
