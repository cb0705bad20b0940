/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What memory the program has on its devices: allocations, mapped and registered host memory, variables of modules.
 * Noted from the process's beginning, as the tool asks for it only when the first image is loaded. */
#ifndef GPUPROBE_RANGES_H
#define GPUPROBE_RANGES_H
#include <stddef.h>
#include <stdint.h>
#include "abi/gpu.h"
#include "gpuprobe/cuda.h"

/* Notes that there is memory; what was noted where it is has gone. */
void ranges_add(CUdeviceptr low, size_t size);

/* Before memory is freed: returns which is known there, 0 if none is.  After that: forgets it, unless another thread was
 * given the same address meanwhile. */
uint64_t ranges_find(CUdeviceptr low);
void ranges_remove(CUdeviceptr low, uint64_t which);

/* Copies them, sorted, and sets *changes to how often they have changed; returns how many there are, or max + 1 if there
 * are more, or it is not known. */
size_t ranges_copy(struct gpu_range *to, size_t max, uint64_t *changes);

/* In a child of fork. */
void ranges_forget(void);

#endif
