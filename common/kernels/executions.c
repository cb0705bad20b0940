/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "proc/user.h"
#include "proc/vm_read.h"
#include "kernels/executions.h"
#include "sym/syms.h"

/* A program that forks and ends, and so do its children, is kept with all its ancestors. */
enum { MAX_NAME = 8192, MAX_DEPTH = 32 };

struct executions *executions_new(struct syms *syms, size_t size)
{
	struct executions *ps = xcalloc(1, sizeof(*ps));

	ps->lookup.helpers = syms_looks(syms);
	ps->lookup.syms = syms;
	ps->lookup.names = kernel_names_new();
	ps->size = size;
	ps->quota = (struct quota){
		.limit = 32 << 20, .what = "kernel names of programs",
		.loss = "further kernels are shown as addresses",
	};
	return ps;
}

static size_t cost(const struct executions *ps)
{
	return ps->size + 256;	/* with its kernels, and its place in a table */
}

/* Returns the next one that has kernels to share; NULL if there is none, or too many. */
static struct execution *sharing(struct execution *parent)
{
	while (parent && kernel_map_are_none(parent->kernels))
		parent = parent->parent;
	return parent && parent->depth < MAX_DEPTH ? parent : NULL;
}

static struct execution *execution_new(struct executions *ps, int pid, struct execution *parent)
{
	struct execution *p = xcalloc(1, ps->size);

	p->programs = ps;
	p->pid = pid;
	p->user = parent ? parent->user : proc_user(pid);
	p->charged = quota_take(&ps->quota, p->user, pid, cost(ps));
	p->parent = p->charged ? sharing(parent) : NULL;
	p->kernels = kernel_map_new(p->parent ? p->parent->kernels : NULL, &ps->quota, p->user, pid);
	if (p->parent) {
		p->depth = p->parent->depth + 1;
		p->parent->children++;
	}
	return p;
}

static void executions_add(struct executions *ps, struct execution *p, unsigned long long id)
{
	p->id = id;
	HASH_ADD(hh, ps->all, id, sizeof(p->id), p);
}

/* Keeps an ended program while it has children, and so its ancestors too. */
static void execution_free(struct execution *p)
{
	while (p && p->ended && !p->children) {
		struct execution *parent = p->parent;

		kernel_map_free(p->kernels);
		if (p->programs->on_free)
			p->programs->on_free(p);
		if (p->charged)
			quota_give(&p->programs->quota, p->user, cost(p->programs));
		free(p);
		if (parent)
			parent->children--;
		p = parent;
	}
}

void execution_end(struct execution *p)
{
	HASH_DEL(p->programs->all, p);
	p->ended = true;
	execution_free(p);
}

void execution_forget_kernels(struct execution *p)
{
	if (!p->children)
		kernel_map_clear(p->kernels);
}

/* Removes and returns the program scanned in this process; NULL if there is none. */
static struct execution *take_scanned(struct executions *ps, int pid)
{
	struct execution *p;

	HASH_FIND(hh, ps->scanned, &pid, sizeof(pid), p);
	if (p)
		HASH_DEL(ps->scanned, p);
	return p;
}

static void drop_scanned(struct executions *ps, int pid)
{
	struct execution *p = take_scanned(ps, pid);

	if (!p)
		return;
	p->ended = true;
	execution_free(p);
}

void executions_free(struct executions *ps)
{
	while (ps->all)
		execution_end(ps->all);
	while (ps->scanned)
		drop_scanned(ps, ps->scanned->pid);
	kernel_names_free(ps->lookup.names);
	quota_free(&ps->quota);
	free(ps);
}

struct execution *executions_find(const struct executions *ps, unsigned long long id)
{
	struct execution *p;

	HASH_FIND(hh, ps->all, &id, sizeof(id), p);
	return p;
}

struct execution *executions_get(struct executions *ps, unsigned long long id, int pid)
{
	struct execution *p = executions_find(ps, id);

	if (p)
		return p;
	/* the program that runs now, not one that the process execs later */
	p = take_scanned(ps, pid);
	if (!p)
		p = execution_new(ps, pid, NULL);
	executions_add(ps, p, id);
	return p;
}

struct execution *executions_fork(struct executions *ps, unsigned long long parent,
			      unsigned long long id, int pid)
{
	struct execution *p = executions_find(ps, id);

	if (p)
		return p;
	drop_scanned(ps, pid);	/* of an earlier process */
	p = execution_new(ps, pid, executions_find(ps, parent));
	executions_add(ps, p, id);
	return p;
}

void executions_scan(struct executions *ps, int pid)
{
	struct execution *p;

	drop_scanned(ps, pid);
	p = execution_new(ps, pid, NULL);
	HASH_ADD(hh, ps->scanned, pid, sizeof(p->pid), p);
	execution_scan(p);
}

void execution_scan(struct execution *p)
{
	kernel_lookup_handles(&p->programs->lookup, p->pid, p->kernels);
}

bool execution_kernel_named(struct execution *p, const char *text, unsigned long long at,
			  const struct kernel **kernel)
{
	struct helper_pool *helpers = p->programs->lookup.helpers;
	char name[MAX_NAME];

	if (!text || !*text) {
		if (!at || !vm_read_string(helpers, p->pid, at, name, sizeof(name)))
			return false;
		text = name;
	}
	*kernel = kernel_named(p->programs->lookup.names, p->user, p->pid, text);
	return true;
}

const struct kernel *execution_kernel(struct execution *p, unsigned long long addr)
{
	const struct kernel *found = kernel_map_find(p->kernels, addr);

	if (found || !kernel_map_may_look(p->kernels, addr))
		return found;
	kernel_lookup(&p->programs->lookup, p->pid, p->kernels, addr);
	return kernel_map_find(p->kernels, addr);
}
