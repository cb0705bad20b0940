/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The GPUs and their processes, as NVIDIA's management library reports them.  Its calls can hang on a faulty GPU, so a
 * helper process makes them. */
#ifndef NVML_NVML_H
#define NVML_NVML_H
#include <stdbool.h>
#include "proc/helper.h"

enum { NVML_DEVICES = 64, NVML_PROCESSES = 4096, NVML_MIGS = 8, NVML_UUID = 96, NVML_NAME = 96 };

struct nvml_device {		/* in the order of their addresses on the PCI bus */
	char uuid[NVML_UUID];	/* "GPU-…", as nvidia-smi -L prints it */
	char name[NVML_NAME];
	unsigned long long place;	/* domain << 32 | bus << 8 | device */
	int minor;		/* of /dev/nvidiaN; -1: unknown */
	bool memory_known;
	unsigned long long total, used;	/* bytes */
	int busy;		/* percent of the time that kernels ran, in the last second or less; -1: unknown */
	bool mig;		/* it is split */
	unsigned nmigs;
	char migs[NVML_MIGS][NVML_UUID];	/* "MIG-…" */
};

/* A process's use of a device, including all parts of a split one. */
struct nvml_process {
	int pid;
	unsigned device;	/* index in devices */
	unsigned long long used;	/* bytes */
};

struct nvml {			/* starts zeroed; helper.idle and ctx may be set before nvml_open() */
	struct helper helper;
	struct nvml_library *library;	/* the helper's */
	bool verbose;
	bool missing;		/* the library is not installed, or its helper died too often */
	bool late;		/* it did not answer the last call in time */
	bool reported;		/* that it is late, or another failure */
	int left;		/* pid of an abandoned helper that has not ended yet; 0: none */
	unsigned deaths;	/* of helpers, in a call */
	unsigned long long asked;	/* clock_ns() of the pending request */
	unsigned ndevices, nprocesses;	/* from the last answer; 0 if none came in time */
	struct nvml_device *devices;
	struct nvml_process *processes;
};

/* Starts the helper, which loads libnvidia-ml.so.1 at the first nvml_ask().  Call before there are threads. */
void nvml_open(struct nvml *n, bool verbose);

/* Opens it with the idle function of another helper, and asks: the first answer may take seconds. */
void nvml_start(struct nvml *n, const struct helper *like, bool verbose);

/* Requests current numbers without waiting for them.  Does nothing if an answer is still to come, or if the library is
 * missing. */
void nvml_ask(struct nvml *n);

/* Waits up to ms milliseconds for the answer, and asks first if need be.  Returns true if it came; else there are no
 * devices and processes until a later call returns true.  Warns once if the library fails, or does not answer for
 * 5 seconds (its first answer may take two).  Does not wait for a library that was late the last time, nor for a missing
 * one. */
bool nvml_read(struct nvml *n, long ms);

/* Returns true and sets *bytes to what the process uses of a device (index in devices), if the driver reports it.  That
 * minus what the tool counted is memory that no CUDA call requested: contexts, kernels' code, their local memory, the
 * driver's reserves; and allocations from before tracing began.  It can be less than 0: managed memory counts while it
 * is not on the device. */
bool nvml_used(const struct nvml *n, int pid, unsigned device, unsigned long long *bytes);

void nvml_close(struct nvml *n);

#endif
