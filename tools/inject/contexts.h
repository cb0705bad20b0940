/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Contexts that a program makes and destroys: a library's variables are in each of them. */
#ifndef INJECT_CONTEXTS_H
#define INJECT_CONTEXTS_H
#include "inject/inject.h"

enum { CONTEXTS_EARLY = 64, CONTEXT_NO_DEVICE = -1 };

/* Those that were made before there was anything to read; more are not known.  Starts zeroed; wants a lock. */
struct contexts_early {
	struct { CUcontext ctx; CUdevice device; bool primary; } at[CONTEXTS_EARLY];
	unsigned n;
};
void contexts_early_add(struct contexts_early *early, CUcontext ctx, CUdevice device, bool primary);
void contexts_early_remove(struct contexts_early *early, CUcontext ctx);
void contexts_early_take(const struct contexts_early *early, struct modules *modules);

/* A context is about to go: waits until all is read and the thread is out of it.  By its handle, or if that is NULL as
 * the primary one of a device.  Returns NULL if it is not known; contexts_closed() afterwards. */
struct context *contexts_close(struct inject *inject, CUcontext ctx, CUdevice device);
void contexts_closed(struct inject *inject, struct context *context, bool gone);

#endif
