/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Contexts that a program destroys. */
#ifndef GPUPROBE_CONTEXTS_H
#define GPUPROBE_CONTEXTS_H
#include "gpuprobe/gpuprobe.h"

/* A context is about to go: waits until all is read and the thread is out of it.  By its handle, or if that is NULL as
 * the primary one of a device.  Returns NULL if it is not known; contexts_closed() afterwards. */
struct context *contexts_close(struct inject *inject, CUcontext ctx, CUdevice device);
void contexts_closed(struct inject *inject, struct context *context, bool gone);

#endif
