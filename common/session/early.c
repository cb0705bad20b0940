/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "cli/out.h"
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
	process->is = proc_identity(pid);
	HASH_ADD_INT(e->processes, pid, process);
}

/* Return true if that is what runs now.  A process that is ending has no stack any more. */
static bool is_still(const struct early_process *process, struct proc_identity now)
{
	return now.started == process->is.started && (!now.stack || now.stack == process->is.stack);
}

bool early_has(const struct early *e, int pid)
{
	const struct early_process *process = find(e, pid);
	struct proc_identity now = { 0 };

	if (!process)
		return false;
	now = proc_identity(pid);
	return !now.started || is_still(process, now);
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
		if (!is_still(process, proc_identity(process->pid)))
			drop(e, process);
}

void early_free(struct early *e)
{
	struct early_process *process, *next;

	HASH_ITER(hh, e->processes, process, next)
		drop(e, process);
}
