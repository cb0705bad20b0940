/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "abi/record.h"
#include "base/die.h"
#include "proc/process_table.h"
#include "proc/user.h"

/* If the ends of so many went unseen, all are read again. */
enum { MAX_KEPT = 32768 };

struct process_part {
	void (*fn)(void *ctx, const struct process_event *event);
	void *ctx;
};

static struct process_entry *find(const struct process_table *t, int pid)
{
	struct process_entry *p = t->last;

	if (!p || p->pid != pid)
		HASH_FIND_INT(t->all, &pid, p);
	return p;
}

static void drop(struct process_table *t, struct process_entry *p)
{
	HASH_DEL(t->all, p);
	if (t->last == p)
		t->last = NULL;
	free(p);
}

/* Keeps those of which something is noted that cannot be read again. */
static void make_room(struct process_table *t)
{
	struct process_entry *p, *next;

	HASH_ITER(hh, t->all, p, next)
		if (!p->preexisting)
			drop(t, p);
}

static struct process_entry *find_or_add(struct process_table *t, int pid)
{
	struct process_entry *p = find(t, pid);

	if (!p) {
		if (HASH_COUNT(t->all) >= MAX_KEPT)
			make_room(t);
		p = xcalloc(1, sizeof(*p));
		p->pid = pid;
		p->is = proc_identity(pid);
		HASH_ADD_INT(t->all, pid, p);
	}
	t->last = p;
	return p;
}

/* Ends. */

void process_on_end(struct process_table *t, void (*fn)(void *ctx, const struct process_event *event), void *ctx)
{
	t->parts = xrealloc(t->parts, t->nparts + 1, sizeof(*t->parts));
	t->parts[t->nparts++] = (struct process_part){ fn, ctx };
}

void process_ended(struct process_table *t, const struct process_event *event)
{
	struct process_entry *p;

	for (int i = 0; i < t->nparts; i++)
		t->parts[i].fn(t->parts[i].ctx, event);
	p = find(t, event->head.pid);
	if (p && t->keeps_ended) {
		p->ended = true;
		p->has_user = false;	/* the next program's may be another */
	}
	if (p && !t->keeps_ended)
		drop(t, p);
}

void process_signalled(const struct process_table *t, bool killed)
{
	if (t->on_signal)
		t->on_signal(t->on_signal_ctx, killed);
}

void process_no_parts(struct process_table *t)
{
	t->on_signal = NULL;
	free(t->parts);
	t->parts = NULL;
	t->nparts = 0;
}

void process_drop(struct process_table *t, int pid)
{
	struct process_entry *p = find(t, pid);

	if (p)
		drop(t, p);
}

void process_tidy(struct process_table *t)
{
	struct process_entry *p, *next;

	HASH_ITER(hh, t->all, p, next)
		if (p->ended || (p->preexisting && !proc_identity_is(p->is, proc_identity(p->pid))))
			drop(t, p);
}

void process_table_free(struct process_table *t)
{
	struct process_entry *p, *next;

	HASH_ITER(hh, t->all, p, next)
		drop(t, p);
	process_no_parts(t);
}

/* State of a process. */

void process_mapped(struct process_table *t, int pid)
{
	struct process_entry *p = find(t, pid);
	struct proc_identity now = proc_identity(pid);

	if (p && !now.started)
		return;		/* it has ended, with records to come */
	if (p && !proc_identity_is(p->is, now))
		drop(t, p);
	else if (p)
		p->has_container = false;	/* a runtime moves a container's first process into it */
	process_container(t, pid);
}

unsigned process_user(struct process_table *t, int pid)
{
	struct process_entry *p = find_or_add(t, pid);

	if (!p->has_user)
		p->user = proc_user(pid);
	p->has_user = true;
	return p->user;
}

const char *process_container(struct process_table *t, int pid)
{
	struct process_entry *p = find_or_add(t, pid);

	if (!p->has_container && !cgroup_container(pid, p->container))
		*p->container = '\0';
	p->has_container = true;
	return *p->container ? p->container : NULL;
}

void process_set_preexisting(struct process_table *t, int pid)
{
	find_or_add(t, pid)->preexisting = true;
}

bool process_is_preexisting(const struct process_table *t, int pid)
{
	const struct process_entry *p = find(t, pid);
	struct proc_identity now = { 0 };

	if (!p || !p->preexisting)
		return false;
	now = proc_identity(pid);
	return !now.started || proc_identity_is(p->is, now);
}

bool process_is_complete(const struct process_table *t, int pid)
{
	const struct process_entry *p = t->all;

	if (pid)
		return !process_is_preexisting(t, pid);
	while (p && !p->preexisting)
		p = p->hh.next;
	return !p;
}
