/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Time on the GPU: from the libraries in programs (gputime/gpu_time.h) to the programs of kernel_counts.h, which show it. */
#ifndef CUDAEXPORTER_GPU_COUNTS_H
#define CUDAEXPORTER_GPU_COUNTS_H
#include <stdbool.h>
#include "gputime/gpu_time.h"

struct kernel_counts;
struct processes;
struct session;

struct gpu_counts {
	bool wanted;		/* --gpu-time; false: nothing is measured */
	struct gpu_time time;	/* run_ns and of_ns are set first */
};

/* Call when wanted is set; then register gpu_time_ended(). */
void gpu_counts_open(struct gpu_counts *c, struct session *session);

/* Call after kernel_counts_free(). */
void gpu_counts_close(struct gpu_counts *c);

/* Call every few milliseconds. */
void gpu_counts_tick(struct gpu_counts *c);

/* Adds what was measured since the last time to kernels' programs; only_over: to those of processes that are over. */
void gpu_counts_read(struct gpu_counts *c, struct kernel_counts *kernels, const struct processes *processes, bool only_over);

#endif
