/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "cli/out.h"
#include "proc/proc.h"
#include "session/early.h"

static struct early_process *find(const struct early *e, int pid)
{
	struct early_process *process;

	HASH_FIND_INT(e->processes, &pid, process);
	return process;
}

static void drop(struct early *e, struct early_process *process)
{
	HASH_DEL(e->processes, process);
	free(process);
}

void early_add(struct early *e, int pid)
{
	struct early_process *process = find(e, pid);

	if (process)
		return;
	process = xcalloc(1, sizeof(*process));
	process->pid = pid;
	process->started = proc_started(pid);
	HASH_ADD_INT(e->processes, pid, process);
}

bool early_has(const struct early *e, int pid)
{
	const struct early_process *process = find(e, pid);
	unsigned long long started = process ? proc_started(pid) : 0;

	return process && (!started || started == process->started);
}

void early_begin(struct early *e)
{
	snprintf(e->since, sizeof(e->since), "%s", out_clock());
}

bool early_complete(const void *early, int pid)
{
	const struct early *e = early;

	return pid ? !early_has(e, pid) : !e->processes;
}

void early_text(const struct early *e, const char *allocations)
{
	printf("; %s before %s are unknown", allocations, e->since);
}

void early_head(const struct early *e, const char *none, const char *allocations)
{
	printf("[%s]%s", out_clock(), none);
	if (e->processes)
		early_text(e, allocations);
	putchar('\n');
}

void early_drop(struct early *e, int pid)
{
	struct early_process *process = find(e, pid);

	if (process)
		drop(e, process);
}

void early_tidy(struct early *e)
{
	struct early_process *process, *next;

	HASH_ITER(hh, e->processes, process, next)
		if (proc_started(process->pid) != process->started)
			drop(e, process);
}

void early_free(struct early *e)
{
	struct early_process *process, *next;

	HASH_ITER(hh, e->processes, process, next)
		drop(e, process);
}
