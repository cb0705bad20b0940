/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The account of a process's memory (model/account.h), and of the GPUs it is on as NVML reports them, as text and JSON. */
#ifndef VIEW_ACCOUNT_VIEW_H
#define VIEW_ACCOUNT_VIEW_H
#include <stdbool.h>

struct helper_pool;
struct mem_process;
struct nvml;

struct account_report {
	unsigned long long time;	/* CLOCK_MONOTONIC, ns */
	int pid;
	const char *comm, *container;	/* untrusted; container: NULL if none or unknown */
	const char *at;			/* interval, exit or failure: in JSON */
	const struct mem_process *process;	/* NULL: no call of it was seen */
	bool complete;			/* it was seen from its start */
	struct nvml *nvml;		/* asked for its GPUs; NULL: not wanted */
	struct helper_pool *helpers;	/* with nvml */
	/* of a failure: */
	const char *func;		/* the function that failed to allocate */
	unsigned long long size;	/* bytes; 0: not known */
};

void account_view(const struct account_report *report);

#endif
