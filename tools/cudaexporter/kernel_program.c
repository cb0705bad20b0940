/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/clock.h"
#include "cudaexporter/kernel_program.h"

struct kernel_called {
	const struct kernel *kernel;	/* held */
	struct kernel_name *name;
	UT_hash_handle hh;
};

/* On the heap, with its place in the table. */
enum { CALLED_COST = sizeof(struct kernel_called) + 64, NAME_COST = sizeof(struct kernel_name) + 64 };

/* Takes over the use of the text. */
static struct kernel_name *name_of(struct kernel_naming *n, struct kernel_program *p, struct kernel_text *text)
{
	struct kernel_name *name;

	HASH_FIND_PTR(p->names, &text, name);
	if (name || !quota_take(&n->quota, p->user, p->pid, NAME_COST)) {
		text->uses--;
		return name;
	}
	name = xcalloc(1, sizeof(*name));
	name->text = text;
	HASH_ADD_PTR(p->names, text, name);
	return name;
}

static struct kernel_text *text_of(struct kernel_naming *n, const struct kernel_program *p,
				   const struct kernel *kernel)
{
	const char *mapped = kernel_map_find(&n->map, kernel->full);
	char label[KERNEL_LABEL_SIZE];

	if (!mapped)
		kernel_label(label, kernel->brief);
	return kernel_text_get(&n->texts, mapped ?: label, p->user, p->pid);
}

static struct kernel_name *add_called(struct kernel_naming *n, struct kernel_program *p, const struct kernel *kernel)
{
	struct kernel_called *called;
	struct kernel_text *text;
	struct kernel_name *name;

	if (!quota_take(&n->quota, p->user, p->pid, CALLED_COST))
		return NULL;
	text = text_of(n, p, kernel);
	name = text ? name_of(n, p, text) : NULL;
	if (!name) {
		quota_give(&n->quota, p->user, CALLED_COST);
		return NULL;
	}
	called = xcalloc(1, sizeof(*called));
	called->kernel = kernel_get(kernel);
	called->name = name;
	HASH_ADD_PTR(p->called, kernel, called);
	return name;
}

/* NULL if there is no room for it, or no time now. */
static struct kernel_name *call(struct kernel_naming *n, struct kernel_program *p, const struct kernel *kernel)
{
	struct kernel_called *called;
	struct kernel_name *name;
	unsigned long long now;

	HASH_FIND_PTR(p->called, &kernel, called);
	if (called)
		return called->name;
	now = clock_ns();
	if (now > n->until || !budget_left(&n->time, p->user, now))
		return NULL;
	name = add_called(n, p, kernel);
	budget_charge(&n->time, p->user, clock_ns() - now);
	return name;
}

void kernel_program_count(struct kernel_naming *n, struct kernel_program *p, const struct kernel *kernel,
			  unsigned long long launches)
{
	struct kernel_name *name = kernel ? call(n, p, kernel) : NULL;

	p->changed = true;
	if (!name) {
		p->other += launches;
		return;
	}
	name->launches += launches;
	name->new += launches;
}

static int by_launches(const struct kernel_name *a, const struct kernel_name *b)
{
	return (a->launches < b->launches) - (a->launches > b->launches);
}

static void show(struct kernel_naming *n, struct kernel_program *p, struct kernel_name *name,
		 struct series_table *table, struct owner *owner)
{
	const struct metric_labels labels = kernel_text_labels(name->text);

	if (!name->named && name->launches >= KERNEL_LAUNCHES && p->named < n->most) {
		name->named = series_of(table, owner, METRIC_KERNEL_LAUNCHES, labels, true);
		p->named += name->named;
	}
	if (name->named)
		series_count(table, owner, METRIC_KERNEL_LAUNCHES, labels, name->new);
	else
		p->other += name->new;
	name->new = 0;
}

void kernel_program_show(struct kernel_naming *n, struct kernel_program *p, struct series_table *table,
			 struct owner *owner)
{
	struct kernel_name *name;

	if (!p->changed)
		return;
	p->changed = false;
	if (p->named < n->most)
		HASH_SORT(p->names, by_launches);
	for (name = p->names; name; name = name->hh.next)
		if (name->new)
			show(n, p, name, table, owner);
	if (p->other)
		series_count(table, owner, METRIC_KERNEL_LAUNCHES, kernel_text_labels(n->other), p->other);
	p->other = 0;
}

void kernel_program_clear(struct kernel_naming *n, struct kernel_program *p)
{
	struct kernel_called *called, *next;
	struct kernel_name *name, *next_name;

	HASH_ITER(hh, p->called, called, next) {
		HASH_DEL(p->called, called);
		quota_give(&n->quota, p->user, CALLED_COST);
		kernel_put(called->kernel);
		free(called);
	}
	HASH_ITER(hh, p->names, name, next_name) {
		HASH_DEL(p->names, name);
		quota_give(&n->quota, p->user, NAME_COST);
		name->text->uses--;
		free(name);
	}
}
