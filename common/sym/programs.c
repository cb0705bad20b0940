/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "proc/vm_read.h"
#include "sym/programs.h"
#include "sym/syms.h"

enum { MAX_NAME = 8192 };

struct programs *programs_new(struct syms *syms, size_t size)
{
	struct programs *ps = xcalloc(1, sizeof(*ps));

	ps->lookup.looks = syms_looks(syms);
	ps->lookup.syms = syms;
	ps->lookup.names = kernel_names_new();
	ps->size = size;
	return ps;
}

static struct program *program_new(struct programs *ps, int pid, struct program *parent)
{
	struct program *p = xcalloc(1, ps->size);

	p->programs = ps;
	p->pid = pid;
	p->parent = parent;
	p->kernels = kernels_new(parent ? parent->kernels : NULL);
	if (parent)
		parent->children++;
	return p;
}

static void add(struct programs *ps, struct program *p, unsigned long long id)
{
	p->id = id;
	HASH_ADD(hh, ps->all, id, sizeof(p->id), p);
}

/* Keeps an ended program while it has children, and so its ancestors too. */
static void program_free(struct program *p)
{
	while (p && p->ended && !p->children) {
		struct program *parent = p->parent;

		kernels_free(p->kernels);
		free(p);
		if (parent)
			parent->children--;
		p = parent;
	}
}

void program_end(struct program *p)
{
	HASH_DEL(p->programs->all, p);
	p->ended = true;
	program_free(p);
}

/* Removes and returns the program scanned in this process; NULL if there is none. */
static struct program *take_scanned(struct programs *ps, int pid)
{
	struct program *p;

	HASH_FIND(hh, ps->scanned, &pid, sizeof(pid), p);
	if (p)
		HASH_DEL(ps->scanned, p);
	return p;
}

static void drop_scanned(struct programs *ps, int pid)
{
	struct program *p = take_scanned(ps, pid);

	if (!p)
		return;
	p->ended = true;
	program_free(p);
}

void programs_free(struct programs *ps)
{
	while (ps->all)
		program_end(ps->all);
	while (ps->scanned)
		drop_scanned(ps, ps->scanned->pid);
	kernel_names_free(ps->lookup.names);
	free(ps);
}

struct program *programs_find(const struct programs *ps, unsigned long long id)
{
	struct program *p;

	HASH_FIND(hh, ps->all, &id, sizeof(id), p);
	return p;
}

struct program *programs_get(struct programs *ps, unsigned long long id, int pid)
{
	struct program *p = programs_find(ps, id);

	if (p)
		return p;
	/* the program that runs now, not one that the process execs later */
	p = take_scanned(ps, pid);
	if (!p)
		p = program_new(ps, pid, NULL);
	add(ps, p, id);
	return p;
}

struct program *programs_fork(struct programs *ps, unsigned long long parent,
			      unsigned long long id, int pid)
{
	struct program *p = programs_find(ps, id);

	if (p)
		return p;
	drop_scanned(ps, pid);	/* of an earlier process */
	p = program_new(ps, pid, programs_find(ps, parent));
	add(ps, p, id);
	return p;
}

void programs_scan(struct programs *ps, int pid)
{
	struct program *p;

	drop_scanned(ps, pid);
	p = program_new(ps, pid, NULL);
	HASH_ADD(hh, ps->scanned, pid, sizeof(p->pid), p);
	program_scan(p);
}

void program_scan(struct program *p)
{
	kernel_lookup_handles(&p->programs->lookup, p->pid, p->kernels);
}

bool program_kernel_named(struct program *p, const char *text, unsigned long long at,
			  const struct kernel **kernel)
{
	struct looks *looks = p->programs->lookup.looks;
	char name[MAX_NAME];

	if (!text || !*text) {
		if (!at || !vm_read_string(looks, p->pid, at, name, sizeof(name)))
			return false;
		text = name;
	}
	*kernel = kernel_named(p->programs->lookup.names, text);
	return true;
}

const struct kernel *program_look(struct program *p, unsigned long long addr)
{
	const struct kernel *found = kernels_find(p->kernels, addr);

	if (found || !kernels_may_look(p->kernels, addr))
		return found;
	kernel_lookup(&p->programs->lookup, p->pid, p->kernels, addr);
	return kernels_find(p->kernels, addr);
}
