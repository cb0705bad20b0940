/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Launches by kernel of one process, and its time on the GPU, since tracing began. */
#ifndef CUDATOP_KERNELS_H
#define CUDATOP_KERNELS_H
#include <stdbool.h>
#include <stddef.h>
#include "api/cuda_api.h"

struct gpu_time;
struct kernel;
struct launches;

/* Kernels of one name, or all CUDA graphs. */
struct top_kernel {
	const struct kernel *kernel;	/* NULL: its name is not known; then … */
	char name[32];			/* … the address that was launched, or "[graphs]" */
	unsigned long long launches;	/* with those by graphs; of graphs: those whose kernels are not known */
	unsigned long long runs, ns;	/* on the GPU; graphs as a whole */
};

struct top_gpu_copies {
	unsigned long long n, bytes, ns;
};

struct top_kernels {			/* starts zeroed */
	struct top_kernel *list;	/* those that took the most time first, then those that were launched most often */
	size_t n, room;
	bool measured;			/* on the GPU: what follows is known */
	struct top_gpu_copies copies[CUDA_DEFAULT + 1], sets;	/* by enum cuda_direction */
};

/* Reads what is known of a process.  launches, gpu: NULL: is not counted.  Valid until launches_count() or gpu_time_count(). */
void top_kernels_read(struct top_kernels *k, const struct launches *launches, const struct gpu_time *gpu, int pid);

/* Returns its short name, not escaped, or what is known instead. */
const char *top_kernel_name(const struct top_kernel *k);

void top_kernels_free(struct top_kernels *k);

#endif
