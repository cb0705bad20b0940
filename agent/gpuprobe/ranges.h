/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The memory that kernels may access: allocations, mapped and registered host memory, variables of modules.  Recorded
 * from the start of the process, because the tool's request comes only when the first image is loaded. */
#ifndef AGENT_GPUPROBE_RANGES_H
#define AGENT_GPUPROBE_RANGES_H
#include <stddef.h>
#include <stdint.h>
#include "abi/gpu_variables.h"
#include "agent/gpuprobe/cuda.h"

/* Adds a range, and removes those it overlaps. */
void ranges_add(CUdeviceptr low, size_t size);

/* Before memory is freed: returns the number of the range that begins there, or 0.  Afterwards: removes the range with
 * that number, so that one that another thread got at the same address meanwhile stays. */
uint64_t ranges_find(CUdeviceptr low);
void ranges_remove(CUdeviceptr low, uint64_t which);

/* Copies all ranges, sorted, and sets *changes to the number of changes so far.  Returns the number of ranges; max + 1 if
 * there are more, or if memory ran out. */
size_t ranges_copy(struct gpu_range *to, size_t max, uint64_t *changes);

/* In a child of fork. */
void ranges_forget(void);

#endif
