/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "nccl/rank_name.h"
#include "proc/proc.h"
#include "proc/vm_read.h"

enum { MOST = 256 << 10 };	/* bytes of an environment that are read */

/* The first of them that is there counts: a program of torchrun may run below Slurm. */
static const char *const ranks[] = { "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID", NULL };
static const char *const local_ranks[] = {
	"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", NULL,
};

/* Of torchrun, also without it, Slurm, Open MPI. */
static const char *const jobs[] = { "TORCHELASTIC_RUN_ID", "MASTER_PORT", "SLURM_JOB_ID", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid" };

/* Returns the variable's value; NULL: it is not there.  text ends with a 0 byte. */
static const char *variable(const char *name, const char *text, size_t size)
{
	size_t length = strlen(name);

	for (const char *at = text; at < text + size; at += strlen(at) + 1)
		if (!strncmp(at, name, length) && at[length] == '=')
			return at + length + 1;
	return NULL;
}

/* Returns the number of the first of these variables; -1: none has one.  text ends with a 0 byte. */
static int value_of(const char *const *names, const char *text, size_t size)
{
	for (; *names; names++) {
		const char *value = variable(*names, text, size);
		char *end;
		long n = value ? strtol(value, &end, 10) : -1;

		if (n >= 0 && n < 1 << 30 && end != value && !*end)
			return n;
	}
	return -1;
}

static void read_job(struct rank_name *name, const char *text, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < sizeof(jobs) / sizeof(*jobs); i++) {
		const char *value = variable(jobs[i], text, size);

		if (value && *value && used < sizeof(name->job))
			used += snprintf(name->job + used, sizeof(name->job) - used, "%zu=%s;", i, value);
	}
}

bool rank_name_same_job(const struct rank_name *a, const struct rank_name *b)
{
	return *a->job && !strcmp(a->job, b->job);
}

struct rank_name rank_name_read(struct helper_pool *helpers, int pid)
{
	struct rank_name name = { -1, -1, "" };
	unsigned long long start, end;
	size_t size;
	char *text;

	if (!proc_environment(pid, &start, &end))
		return name;
	size = end - start < MOST ? end - start : MOST;
	text = xcalloc(size + 1, 1);
	size = vm_read_some(helpers, pid, start, text, size);
	name.rank = value_of(ranks, text, size);
	name.local_rank = value_of(local_ranks, text, size);
	read_job(&name, text, size);
	free(text);
	return name;
}
