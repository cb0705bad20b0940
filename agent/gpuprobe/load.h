/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Loading, linking and unloading, for the wrappers. */
#ifndef AGENT_GPUPROBE_LOAD_H
#define AGENT_GPUPROBE_LOAD_H
#include "agent/gpuprobe/modules.h"

/* Loads an image, or how->file if image is NULL, with probes; or the original, if it has no PTX, or if the driver rejects
 * the rewritten one. */
CUresult load_module(const struct loading *how, void **handle, const void *image);

/* Unloads after a last reading. */
CUresult load_unload(const struct driver *driver, enum module_kind kind, void *handle);

/* Returns the image to link instead, malloc'd, and its *new_size; NULL: the original. */
void *load_linked(int type, const void *data, size_t size, size_t *new_size);

/* Returns a file's contents, malloc'd, with a 0 after it; NULL if it cannot be read. */
char *load_read(const char *file, size_t *size);

#endif
