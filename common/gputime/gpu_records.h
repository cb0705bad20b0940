/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The records that the library in a process writes: for gpu_time.c. */
#ifndef GPUTIME_GPU_RECORDS_H
#define GPUTIME_GPU_RECORDS_H
#include "gputime/gpu_state.h"

/* Handles the records that are there, as far as the user's budget of time goes. */
void gpu_records_read(struct gpu_time *g, struct gpu_process *p);

/* Handles runs whose calls are known now; all: also the others, whose calls do not come any more. */
void gpu_records_retry(struct gpu_time *g, struct gpu_process *p, bool all);

/* Reads what is left, and gives back the process's memory. */
void gpu_records_rest(struct gpu_time *g, struct gpu_process *p);

#endif
