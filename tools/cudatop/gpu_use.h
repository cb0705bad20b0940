/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The GPUs that each process is on, as NVML reports them. */
#ifndef CUDATOP_GPU_USE_H
#define CUDATOP_GPU_USE_H
#include <stdio.h>
#include "nvml/nvml.h"

struct top_processes;

struct gpu_use {
	unsigned long long gpus;	/* bit n: NVML's GPU n */
	unsigned long long used[NVML_DEVICES];	/* bytes, of these */
	unsigned number[NVML_DEVICES];	/* the process's own: see abi/device.h */
	unsigned long long numbered;	/* the gpus for which number was set */
};

/* Sets use and devices_now of all; call after the counts were read. */
void gpu_use_read(struct top_processes *t, const struct nvml *n);

/* Prints {"0":1048576}; use may be NULL.  The type is that of struct out_print. */
void gpu_use_json(FILE *f, const void *use);

#endif
