/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which GPU a program's device is: CUDA numbers those that the program may see, in an order of its own. */
#ifndef EXPORTER_DEVICES_H
#define EXPORTER_DEVICES_H
#include <stdbool.h>
#include "cudaexporter/nvml.h"

struct helper_pool;

enum { DEVICES_VISIBLE = 1024, DEVICES_ORDER = 32 };

/* What a process was started with: what it has changed in its environment since is not seen. */
struct device_env {
	bool restricted;	/* CUDA_VISIBLE_DEVICES was set … */
	char visible[DEVICES_VISIBLE];	/* … to this */
	char order[DEVICES_ORDER];	/* CUDA_DEVICE_ORDER */
	bool slurm;		/* a job of Slurm, which may keep devices from it in a way that does not show */
	unsigned long long nodes;	/* 1 << N: /dev/nvidiaN is in its root; 0: none is, which says nothing */
};

/* Reads it.  Returns 0, or the error of helper_call(): err_is_transient() says whether to try later. */
int device_env_read(struct helper_pool *l, int pid, struct device_env *env);

/* Returns the index in n->devices of the program's device (0 is its first); or -1 with *why, a static text, if that is
 * not known.  Uses what the driver says of the process to check what its environment says. */
int device_find(const struct device_env *env, const struct nvml *n, int pid, unsigned device, const char **why);

#endif
