/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the library exports, besides the driver's functions of cuda.h: gpuprobe.map lists all of it. */
#ifndef GPUPROBE_ENTRY_H
#define GPUPROBE_ENTRY_H
#include <dlfcn.h>
#include "gpuprobe/cuda.h"

#define EXPORTED __attribute__((visibility("default")))

typedef int nvrtcResult;
typedef void *nvrtcProgram;
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin);

/* For the stubs of dlsym and dlvsym, in entry_dl.c: return what is to be returned; or NULL, for which the stub jumps to
 * the dynamic linker's own function, which thus sees who has called. */
void *entry_dlsym(void *handle, const char *name);
void *entry_dlvsym(void *handle, const char *name, const char *version);

#endif
