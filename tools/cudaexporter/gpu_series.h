/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The GPUs' memory as the driver reports it, beside what was counted, as series. */
#ifndef CUDAEXPORTER_GPU_SERIES_H
#define CUDAEXPORTER_GPU_SERIES_H
#include <stdbool.h>
#include "nvml/nvml.h"
#include "cudaexporter/series.h"

struct helper_pool;
struct memory_metrics;
struct processes;

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

#endif
