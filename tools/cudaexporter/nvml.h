/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the driver says of the GPUs, where NVIDIA's management library is installed.  Its calls can hang on a sick
 * GPU, so a helper process makes them. */
#ifndef NVML_H
#define NVML_H
#include <stdbool.h>
#include "cudaexporter/nvml_gpu.h"
#include "proc/helper.h"

struct nvml_library;

struct nvml {			/* starts zeroed; helper.idle and ctx may be set before nvml_open() */
	struct helper helper;
	struct nvml_library *library;	/* the helper's */
	bool verbose;
	bool missing;		/* there is no such library, or its helper died too often */
	bool late;		/* it did not answer the last call in time */
	bool said;		/* so, or what else is wrong */
	int left;		/* pid of a helper that has not ended yet; 0: none */
	unsigned deaths;	/* of the helper, of what a call did */
	unsigned long long asked;	/* clock_ns() of the question that it has */
	unsigned ndevices, nprocesses;	/* from the last answer; 0 if there was none in time */
	struct nvml_device *devices;
	struct nvml_process *processes;
};

/* Starts the helper, which loads libnvidia-ml.so.1 at the first nvml_ask().  Call before there are threads. */
void nvml_open(struct nvml *n, bool verbose);

/* Asks for the numbers of now, and does not wait for them.  Does nothing if the last answer is still to come, or if
 * there is no such library. */
void nvml_ask(struct nvml *n);

/* Waits for the answer for up to ms milliseconds, asking first if need be.  Returns true if it came; otherwise there
 * are no devices and processes until a later call returns true.  Warns once if the library fails, or does not answer
 * for 5 seconds (its first answer may take two); does not wait at all for one that was late the last time, nor for
 * one that is missing. */
bool nvml_read(struct nvml *n, long ms);

/* Returns true and sets *bytes to what the process uses of a device (index in devices), if the driver says so.  What the
 * tool counted, subtracted from it, is memory that no CUDA call asked for: contexts, kernels' code, their local memory,
 * the driver's reserves; and what was allocated before tracing began.  It can be less than 0: managed memory
 * counts while it is not on the device. */
bool nvml_used(const struct nvml *n, int pid, unsigned device, unsigned long long *bytes);

void nvml_close(struct nvml *n);

#endif
