/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The sums of what a process ran on GPUs: for gpu_time.c and gpu_records.c. */
#ifndef GPUTIME_GPU_TALLIES_H
#define GPUTIME_GPU_TALLIES_H
#include "gputime/gpu_state.h"

/* Adds a run.  Return false if there is no room for its tally. */
bool gpu_tally_add(struct gpu_time *g, struct gpu_process *p, const struct gpu_tally_key *key, unsigned long long ns,
		   unsigned long long bytes);

/* Of a process: as gpu_time_count(), gpu_time_take() and gpu_time_each() of all. */
void gpu_tallies_end_interval(struct gpu_process *p);
void gpu_tallies_take(struct gpu_time *g, struct gpu_process *p, gpu_take_fn *fn, void *ctx);
void gpu_tallies_each(const struct gpu_process *p, gpu_tally_fn *fn, void *ctx);

/* Frees them. */
void gpu_tallies_drop(struct gpu_time *g, struct gpu_process *p);

#endif
