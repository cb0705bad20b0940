/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A GPU and a process on it, as NVIDIA's management library has them. */
#ifndef NVML_GPU_H
#define NVML_GPU_H
#include <stdbool.h>

enum { NVML_DEVICES = 64, NVML_PROCESSES = 4096, NVML_MIGS = 8, NVML_UUID = 96, NVML_NAME = 96 };

struct nvml_device {		/* in the order of their places on the PCI bus */
	char uuid[NVML_UUID];	/* "GPU-…", as nvidia-smi -L prints it */
	char name[NVML_NAME];
	unsigned long long place;	/* domain << 32 | bus << 8 | device */
	int minor;		/* of /dev/nvidiaN; -1: not known */
	bool memory_known;
	unsigned long long total, used;	/* bytes */
	bool mig;		/* it is split */
	unsigned nmigs;
	char migs[NVML_MIGS][NVML_UUID];	/* "MIG-…" */
};

/* What a process uses of a device, with its parts if the device is split. */
struct nvml_process {
	int pid;
	unsigned device;	/* index in devices */
	unsigned long long used;	/* bytes */
};

#endif
