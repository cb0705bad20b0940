/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The GPUs' memory as the driver reports it, beside what was counted, as series.  Which GPU a program's device is: CUDA
 * numbers the GPUs that the program may see, in an order of its own. */
#ifndef CUDAEXPORTER_GPUS_H
#define CUDAEXPORTER_GPUS_H
#include <stdbool.h>
#include "nvml/nvml.h"
#include "cudaexporter/series.h"

struct helper_pool;
struct memory_metrics;
struct processes;

enum { DEVICES_VISIBLE = 1024, DEVICES_ORDER = 32 };

/* A process's environment at its start: later changes are not seen. */
struct device_env {
	bool restricted;	/* CUDA_VISIBLE_DEVICES was set … */
	char visible[DEVICES_VISIBLE];	/* … to this */
	char order[DEVICES_ORDER];	/* CUDA_DEVICE_ORDER */
	bool slurm;		/* a Slurm job: Slurm may hide devices from it without a trace */
	unsigned long long nodes;	/* 1 << N: its root has /dev/nvidiaN; 0: none, which proves nothing */
};

struct gpus {
	struct nvml nvml;
	struct label_set *set;		/* the exporter's */
	struct helper_pool *helpers;
	char uuids[NVML_DEVICES][NVML_UUID];	/* those in the labels */
	char *labels[NVML_DEVICES];
};

/* Call before the probes are attached: starts a helper process.  set and helpers must outlive g. */
void gpus_open(struct gpus *g, struct label_set *set, struct helper_pool *helpers, bool verbose);

/* Call in a round, after the held memory was collected. */
void gpus_collect(struct gpus *g, struct processes *c, const struct memory_metrics *memory);

/* Call after the series are freed. */
void gpus_close(struct gpus *g);

/* Returns 0, or the error of helper_call(): err_is_transient() decides whether to retry later. */
int device_env_read(struct helper_pool *l, int pid, struct device_env *env);

/* Returns the index in n->devices of the program's device (0 is its first); or -1 with *why, a static text, if it cannot
 * be determined.  Checks the environment against the driver's list of processes. */
int device_find(const struct device_env *env, const struct nvml *n, int pid, unsigned device, const char **why);

#endif
