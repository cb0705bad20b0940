/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the wrappers of loading, linking and unloading do. */
#ifndef GPUPROBE_LOAD_H
#define GPUPROBE_LOAD_H
#include "gpuprobe/loading.h"

/* Loads an image with probes; or the original, if it has no PTX or the driver refuses the other.  size 0: as many bytes
 * as the image says. */
CUresult load_image(const struct loading *how, void **handle, const void *image, size_t size);

/* The same of how->file. */
CUresult load_file(const struct loading *how, void **handle);

/* Unloads, once all has been read. */
CUresult load_unload(const struct driver *driver, enum module_kind kind, void *handle);

/* Returns what is to be linked instead, malloc'd, and its *new_size; NULL: the original. */
void *load_linked(int type, const void *data, size_t size, size_t *new_size);

/* Returns a file's contents, malloc'd, with a 0 after it; NULL if it cannot be read. */
char *load_read(const char *file, size_t *size);

#endif
