/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Contexts that are made before the first image is loaded: a library comes to each of them. */
#ifndef GPUPROBE_PENDING_CONTEXTS_H
#define GPUPROBE_PENDING_CONTEXTS_H
#include "gpuprobe/modules.h"

enum { EARLY_CONTEXTS = 64 };

/* More are not known.  Starts zeroed; wants a lock. */
struct pending_contexts_contexts {
	struct { CUcontext ctx; CUdevice device; bool primary; } at[EARLY_CONTEXTS];
	unsigned n;
};
void pending_contexts_add(struct pending_contexts_contexts *early, CUcontext ctx, CUdevice device, bool primary);
void pending_contexts_remove(struct pending_contexts_contexts *early, CUcontext ctx);
void pending_contexts_take(const struct pending_contexts_contexts *early, struct modules *modules);

#endif
