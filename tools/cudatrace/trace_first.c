/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/die.h"
#include "base/hash.h"
#include "cudatrace/trace_first.h"
#include "proc/process_table.h"

struct launched_kernel {
	unsigned long long func;
	UT_hash_handle hh;
};

struct launching_process {
	int pid;
	unsigned user;
	struct launched_kernel *kernels;
	UT_hash_handle hh;
};

/* A hundred bytes each. */
enum { KERNELS = 1 << 18 };

struct trace_firsts trace_firsts_init(struct process_table *table)
{
	return (struct trace_firsts){
		.table = table,
		.quota = {
			.limit = KERNELS, .what = "launched kernels",
			.loss = "the first launches of further ones are not marked",
		},
	};
}

static struct launching_process *trace_first_process_of(const struct trace_firsts *f, int pid)
{
	struct launching_process *p;

	HASH_FIND_INT(f->processes, &pid, p);
	return p;
}

static struct launched_kernel *kernel_of(const struct launching_process *p, unsigned long long func)
{
	struct launched_kernel *k = NULL;

	if (p)
		HASH_FIND(hh, p->kernels, &func, sizeof(func), k);
	return k;
}

/* Returns NULL if there are too many. */
static struct launching_process *process_new(struct trace_firsts *f, int pid)
{
	const unsigned user = process_user(f->table, pid);
	struct launching_process *p;

	if (!quota_take(&f->quota, user, pid, 1))
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	p->user = user;
	HASH_ADD_INT(f->processes, pid, p);
	return p;
}

static void trace_first_drop(struct trace_firsts *f, struct launching_process *p, struct launched_kernel *k)
{
	quota_give(&f->quota, p->user, 1);
	HASH_DEL(p->kernels, k);
	free(k);
}

bool trace_first_launch(struct trace_firsts *f, int pid, unsigned long long func)
{
	struct launching_process *p = trace_first_process_of(f, pid);
	struct launched_kernel *k;

	if (kernel_of(p, func))
		return false;
	if (!p)
		p = process_new(f, pid);
	if (!p || !quota_take(&f->quota, p->user, pid, 1)) {
		f->lost++;
		return false;
	}
	k = xcalloc(1, sizeof(*k));
	k->func = func;
	HASH_ADD(hh, p->kernels, func, sizeof(k->func), k);
	return true;
}

void trace_first_unloaded(void *unload, unsigned long long func)
{
	const struct trace_first_unload *u = unload;
	struct launching_process *p = trace_first_process_of(u->firsts, u->pid);
	struct launched_kernel *k = kernel_of(p, func);

	if (k)
		trace_first_drop(u->firsts, p, k);
}

static void trace_first_drop_process(struct trace_firsts *f, struct launching_process *p)
{
	struct launched_kernel *k, *next;

	HASH_ITER(hh, p->kernels, k, next)
		trace_first_drop(f, p, k);
	quota_give(&f->quota, p->user, 1);
	HASH_DEL(f->processes, p);
	free(p);
}

void trace_first_forget(struct trace_firsts *f, int pid)
{
	struct launching_process *p = trace_first_process_of(f, pid);

	if (p)
		trace_first_drop_process(f, p);
}

void trace_firsts_free(struct trace_firsts *f)
{
	struct launching_process *p, *next;

	if (f->lost)
		warning(0, "%llu launches of kernels that were too many: not marked as the first", f->lost);
	HASH_ITER(hh, f->processes, p, next)
		trace_first_drop_process(f, p);
	quota_free(&f->quota);
}
