/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "ncclhang/rank_name.h"
#include "proc/proc.h"
#include "proc/vm_read.h"

enum { MOST = 256 << 10 };	/* bytes of an environment that are read */

/* The first of them that is there counts: a program of torchrun may run below Slurm. */
static const char *const ranks[] = { "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID", NULL };
static const char *const local_ranks[] = {
	"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", NULL,
};

/* Returns the number of the first of these variables; -1: none has one.  text ends with a 0 byte. */
static int value_of(const char *const *names, const char *text, size_t size)
{
	for (; *names; names++) {
		size_t length = strlen(*names);

		for (const char *at = text; at < text + size; at += strlen(at) + 1) {
			char *end;
			long n;

			if (strncmp(at, *names, length) || at[length] != '=')
				continue;
			n = strtol(at + length + 1, &end, 10);
			if (end != at + length + 1 && !*end && n >= 0 && n < 1 << 30)
				return n;
		}
	}
	return -1;
}

struct rank_name rank_name_read(struct helper_pool *helpers, int pid)
{
	struct rank_name name = { -1, -1 };
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
	free(text);
	return name;
}
