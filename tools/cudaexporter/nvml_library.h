/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* NVIDIA's management library itself, in the helper process.  Private to nvml.c. */
#ifndef NVML_LIBRARY_H
#define NVML_LIBRARY_H
#include "proc/helper.h"

struct nvml_library;

enum nvml_state {
	NVML_READ,		/* devices and processes follow */
	NVML_MISSING,		/* it is not installed */
	NVML_NO_DRIVER,		/* there may be one later */
	NVML_FAILED,		/* for the reason in why */
};

/* Before the arrays of an answer. */
struct nvml_answer {
	enum nvml_state state;
	char why[128];
	unsigned ndevices, nprocesses;
};

/* Returns the state that the helper is to have; the caller frees it. */
struct nvml_library *nvml_library_new(void);

/* Serves a request, whose bytes are the pointer to that state: loads the library, if it is not, and answers with a
 * struct nvml_answer, the devices and the processes. */
void nvml_library_read(struct helper_job *job);

#endif
