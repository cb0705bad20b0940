/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The account of a process's memory (model/account.h), as text and JSON. */
#ifndef VIEW_ACCOUNT_VIEW_H
#define VIEW_ACCOUNT_VIEW_H
#include <stdbool.h>

struct mem_process;

struct account_report {
	unsigned long long time;	/* CLOCK_MONOTONIC, ns */
	int pid;
	const char *comm, *container;	/* untrusted; container: NULL if none or unknown */
	const char *at;			/* interval, exit or failure: in JSON */
	const struct mem_process *process;	/* NULL: no call of it was seen */
	bool complete;			/* it was seen from its start */
	unsigned long long used;	/* bytes on all devices, as NVML reports; OUT_NONE: it does not */
	/* of a failure: */
	const char *func;		/* the function that failed to allocate */
	unsigned long long size;	/* bytes; 0: not known */
};

void account_view(const struct account_report *report);

#endif
