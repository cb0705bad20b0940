/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A launcher's name for a process: its rank in the job, and on its machine, by its environment. */
#ifndef NCCL_RANK_NAME_H
#define NCCL_RANK_NAME_H

struct helper_pool;

#include <stdbool.h>

struct rank_name {
	int rank, local_rank;	/* -1: not known */
	char job[64];		/* what ranks of one job have in common; "": nothing is known */
};

/* Reads the environment that the program began with: of torchrun, Slurm, Open MPI, MPICH, Intel MPI, MVAPICH2. */
struct rank_name rank_name_read(struct helper_pool *helpers, int pid);

/* Return true if both are known to be of one job. */
bool rank_name_same_job(const struct rank_name *a, const struct rank_name *b);

#endif
