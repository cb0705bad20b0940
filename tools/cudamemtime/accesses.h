/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Records of accesses, with their times on the clock that all SMs of a device share, and the launch they are of. */
#ifndef ACCESSES_H
#define ACCESSES_H
#include "model/gpuprobe_modules.h"

struct gpu_access {
	const struct gpuprobe_module *module;
	struct gpu_record record;
	unsigned long long start_ns, end_ns;	/* %globaltimer; NO_VALUE: unknown */
	unsigned launch;	/* counts from 1: the launches of a process, by context and order */
};

/* Returns all of them, processes one after the other, by start; the caller frees them. */
struct gpu_access *gpu_accesses(struct gpuprobe_modules *m, size_t *n);

/* Counts accesses by their records, for modules whose probes do not: sets the modules' sums anew. */
void gpu_accesses_count(struct gpuprobe_modules *m);

/* Return true if the record is of an access: probes may record other things. */
bool gpu_record_is_access(const struct gpu_record *record);

#endif
