/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "base/die.h"
#include "cli/out.h"
#include "session/process.h"

struct process_part {
	void (*fn)(void *ctx, const struct process_event *event);
	void *ctx;
};

void process_on_end(struct process_ends *ends, void (*fn)(void *ctx, const struct process_event *event), void *ctx)
{
	ends->parts = xrealloc(ends->parts, ends->n + 1, sizeof(*ends->parts));
	ends->parts[ends->n++] = (struct process_part){ fn, ctx };
}

void process_ended(const struct process_ends *ends, const struct process_event *event)
{
	for (int i = 0; i < ends->n; i++)
		ends->parts[i].fn(ends->parts[i].ctx, event);
}

void process_ends_free(struct process_ends *ends)
{
	free(ends->parts);
	*ends = (struct process_ends){ 0 };
}

static struct preexisting_process *find(const struct preexisting *e, int pid)
{
	struct preexisting_process *process;

	HASH_FIND_INT(e->processes, &pid, process);
	return process;
}

static void drop(struct preexisting *e, struct preexisting_process *process)
{
	HASH_DEL(e->processes, process);
	free(process);
}

void preexisting_add(struct preexisting *e, int pid)
{
	struct preexisting_process *process = find(e, pid);

	if (process)
		return;
	process = xcalloc(1, sizeof(*process));
	process->pid = pid;
	process->is = proc_identity(pid);
	HASH_ADD_INT(e->processes, pid, process);
}

/* Return true if that is what runs now.  A process that is ending has no stack any more. */
static bool is_still(const struct preexisting_process *process, struct proc_identity now)
{
	return now.started == process->is.started && (!now.stack || now.stack == process->is.stack);
}

bool preexisting_has(const struct preexisting *e, int pid)
{
	const struct preexisting_process *process = find(e, pid);
	struct proc_identity now = { 0 };

	if (!process)
		return false;
	now = proc_identity(pid);
	return !now.started || is_still(process, now);
}

void preexisting_begin(struct preexisting *e)
{
	snprintf(e->since, sizeof(e->since), "%s", out_clock());
}

bool preexisting_complete(const void *preexisting, int pid)
{
	const struct preexisting *e = preexisting;

	return pid ? !preexisting_has(e, pid) : !e->processes;
}

void preexisting_text(const struct preexisting *e, const char *allocations)
{
	printf("; %s before %s are unknown", allocations, e->since);
}

void preexisting_head(const struct preexisting *e, const char *none, const char *allocations)
{
	printf("[%s]%s", out_clock(), none);
	if (e->processes)
		preexisting_text(e, allocations);
	putchar('\n');
}

void preexisting_drop(struct preexisting *e, int pid)
{
	struct preexisting_process *process = find(e, pid);

	if (process)
		drop(e, process);
}

void preexisting_tidy(struct preexisting *e)
{
	struct preexisting_process *process, *next;

	HASH_ITER(hh, e->processes, process, next)
		if (!is_still(process, proc_identity(process->pid)))
			drop(e, process);
}

void preexisting_free(struct preexisting *e)
{
	struct preexisting_process *process, *next;

	HASH_ITER(hh, e->processes, process, next)
		drop(e, process);
}
