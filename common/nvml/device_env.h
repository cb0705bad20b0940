/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which GPU a program's device is: CUDA numbers the GPUs that the program may see, in an order of its own. */
#ifndef NVML_DEVICE_ENV_H
#define NVML_DEVICE_ENV_H
#include <stdbool.h>

struct helper_pool;
struct nvml;

enum { DEVICES_VISIBLE = 1024, DEVICES_ORDER = 32 };

/* A process's environment at its start: later changes are not seen. */
struct device_env {
	bool restricted;	/* CUDA_VISIBLE_DEVICES was set … */
	char visible[DEVICES_VISIBLE];	/* … to this */
	char order[DEVICES_ORDER];	/* CUDA_DEVICE_ORDER */
	bool slurm;		/* a Slurm job: Slurm may hide devices from it without a trace */
	unsigned long long nodes;	/* 1 << N: its root has /dev/nvidiaN; 0: none, which proves nothing */
};

/* Returns 0, or the error of helper_call(): err_is_transient() decides whether to retry later. */
int device_env_read(struct helper_pool *l, int pid, struct device_env *env);

/* Returns the index in n->devices of the program's device (0 is its first); or -1 with *why, a static text, if it cannot
 * be determined.  Checks the environment against the driver's list of processes. */
int device_find(const struct device_env *env, const struct nvml *n, int pid, unsigned device, const char **why);

/* Sets number[i], of NVML_DEVICES, to the program's number for n->devices[i], as in abi/device.h; 0: it is not known. */
void device_numbers(const struct device_env *env, const struct nvml *n, int pid, unsigned *number);

#endif
