/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads devices and their processes by NVML's functions, in the helper process.  Private to nvml_library.c. */
#ifndef NVML_DEVICE_H
#define NVML_DEVICE_H
#include "cudaexporter/nvml_api.h"
#include "cudaexporter/nvml_gpu.h"

/* What is read; zeroed before. */
struct nvml_found {
	unsigned ndevices, nprocesses;
	nvml_handle handles[NVML_DEVICES];
	struct nvml_device devices[NVML_DEVICES];
	struct nvml_process processes[NVML_PROCESSES];
	union {			/* one device's */
		struct nvml_process_v1 v1[NVML_PROCESSES];
		struct nvml_process_v2 v2[NVML_PROCESSES];
	};
};

/* Reads all that answer.  Returns 0, or NVML's error if it cannot even count them. */
int nvml_devices_read(const struct nvml_api *api, struct nvml_found *found);

#endif
