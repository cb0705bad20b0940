/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "ncclhang/ras_answer.h"

void ras_free(struct ras *r)
{
	free(r->comms);
	free(r->processes);
	free(r->ranks);
	*r = (struct ras){ 0 };
}

const struct ras_comm *ras_find(const struct ras *r, unsigned long long hash)
{
	for (int i = 0; i < r->ncomms; i++)
		if (r->comms[i].hash == hash)
			return &r->comms[i];
	return NULL;
}

const char *ras_problem(const struct ras *r)
{
	static const char *const problems[RAS_RESULTS] = {
		[RAS_REFUSED] = "nothing listens for RAS (NCCL before 2.24, NCCL_RAS_ENABLE=0, or another NCCL_RAS_ADDR)",
		[RAS_TIMED_OUT] = "RAS timed out",
		[RAS_UNKNOWN_FORM] = "RAS answers, but not in a known form",
		[RAS_TOO_LARGE] = "the answer of RAS is larger than 16 MiB",
		[RAS_BAD_ADDRESS] = "the address of RAS is neither localhost:PORT nor a numeric address of this host",
		[RAS_GONE] = "the process has ended",
		[RAS_NO_NAMESPACE] = "cannot enter the network namespace of the process",
		[RAS_CANCELED] = "canceled",
		[RAS_FAILED] = "the helper process for RAS failed",
	};

	return problems[r->result];
}

const char *ras_state_name(enum ras_state state)
{
	static const char *const names[RAS_STATES] = {
		"unknown", "INIT", "RUNNING", "FINALIZE", "ABORT", "NOCOMM", "UNRESPONSIVE", "DEAD", "MISSING",
	};

	return names[state];
}

static const char *const functions[RAS_FUNCTIONS] = { "Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce" };

int ras_function_find(const char *name, size_t size)
{
	for (int f = 0; f < RAS_FUNCTIONS; f++)
		if (strlen(functions[f]) == size && !memcmp(functions[f], name, size))
			return f;
	return -1;
}

const char *ras_function_name(int function)
{
	return functions[function];
}
