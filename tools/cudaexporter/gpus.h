/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The GPUs' memory as series: what the driver says of them, beside what was counted. */
#ifndef GPUS_H
#define GPUS_H
#include <stdbool.h>
#include "cudaexporter/nvml.h"
#include "cudaexporter/series.h"

struct clients;
struct held;
struct helper_pool;

struct gpus {
	struct nvml nvml;
	struct owner *owner;		/* of series of no process */
	struct helper_pool *helpers;
	char uuids[NVML_DEVICES][NVML_UUID];	/* what the labels below are of */
	char *labels[NVML_DEVICES];
};

/* Call before the probes are attached: starts a helper process.  owner and looks must outlive g. */
void gpus_open(struct gpus *g, struct owner *owner, struct helper_pool *helpers, bool verbose);

/* Call in a round, after the held memory was collected. */
void gpus_collect(struct gpus *g, struct clients *c, const struct held *held);

/* Call after the series are freed. */
void gpus_close(struct gpus *g);

#endif
