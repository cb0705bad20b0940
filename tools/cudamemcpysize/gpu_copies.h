/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How long copies took on the GPU, also asynchronous ones and those of graphs. */
#ifndef CUDAMEMCPYSIZE_GPU_COPIES_H
#define CUDAMEMCPYSIZE_GPU_COPIES_H
#include <stdbool.h>
#include "gputime/gpu_time.h"

struct process_table;

struct gpu_copies {
	struct gpu_time time;
	/* options */
	bool pids, memset;
	int direction;			/* enum cuda_direction; 0: all */
	unsigned long long devices;	/* as in struct session */
};

/* Ends an interval, and prints what was copied in it. */
void gpu_copies_report(struct gpu_copies *g, struct process_table *processes, unsigned long long now);

#endif
