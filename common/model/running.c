/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "abi/running_call.h"
#include "base/clock.h"
#include "base/die.h"
#include "model/running.h"
#include "model/running_early.h"
#include "probe/probe_source.h"
#include "probe/probes.h"
#include "proc/user.h"
#include "sym/syms.h"

/* MOST: calls and threads that programs can make the tool keep.  FAR: bytes; a stack that is further from
 * where a call began is another one. */
enum { MOST = 16384, FAR = 64 << 20 };

/* A call as it was read; user: whose quota it takes from. */
struct taken {
	struct running_call call;
	unsigned user;
};

static struct running_row *new_row(struct running *r, const struct running_call *c, unsigned user)
{
	struct running_row *row;

	r->rows = xrealloc(r->rows, r->n + 1, sizeof(*r->rows));
	row = &r->rows[r->n++];
	*row = (struct running_row){ .pid = c->stack.head.pid, .tid = c->tid, .running = true, .user = user };
	memcpy(row->name, c->comm, sizeof(row->name));
	row->name[sizeof(row->name) - 1] = 0;
	return row;
}

/* Return true if the thread has left the call without a return: by longjmp() or an exception. */
static bool has_left(const struct running_call *c)
{
	unsigned long long sp = c->stack.regs[UNWIND_RSP];

	return sp > c->stack.from && sp - c->stack.from < FAR;
}

static bool add_seen(struct running *r, const struct running_call *c, unsigned user)
{
	struct running_row *row = has_left(c) ? NULL : new_row(r, c, user);

	if (!row)
		return false;
	row->func = r->probes->source->get(r->probes, c->id).name;
	row->age = r->now > c->start ? r->now - c->start : 0;
	row->complete = true;
	row->stack = r->stacks ? running_stack(r, c) : NULL;
	return true;
}

static bool add_early(struct running *r, const struct running_call *c, unsigned user)
{
	const struct running_thread *t = running_early(r, c, user);
	struct running_row *row = t && t->id >= 0 ? new_row(r, c, user) : NULL;

	if (!row)
		return false;
	row->func = r->probes->source->get(r->probes, t->id).name;
	row->age = r->now - r->since;
	row->stack = t->stack;
	return true;
}

static void add(struct running *r, const struct taken *t)
{
	if (!(t->call.early ? add_early : add_seen)(r, &t->call, t->user))
		quota_give(&r->quota, t->user, 1);
}

/* Return true if the call is to be kept; sets its user. */
static bool take(struct running *r, struct taken *t)
{
	int pid = t->call.stack.head.pid;

	if (t->call.early && !r->is_early(r->ctx, pid))
		return false;
	t->user = proc_user(pid);
	return quota_take(&r->quota, t->user, pid, 1);
}

/* EAGAIN: a million threads were visited, and there are more. */
static bool next(FILE *f, struct running_call *c)
{
	while (fread(c, sizeof(*c), 1, f) != 1) {
		if (!ferror(f) || errno != EAGAIN)
			return false;
		clearerr(f);
	}
	return true;
}

/* Reads all of it first: the kernel's list of threads goes on while stacks are looked at. */
static struct taken *read_calls(struct running *r, size_t *n)
{
	int fd = bpf_iter_create(bpf_link__fd(r->link));
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	struct taken *all = NULL, t;

	*n = 0;
	if (!f)
		warning(errno, "cannot read which calls are in flight");
	while (f && next(f, &t.call)) {
		if (!take(r, &t))
			continue;
		if (!(*n & (*n - 1)))
			all = xrealloc(all, *n ? 2 * *n : 1, sizeof(*all));
		all[(*n)++] = t;
	}
	if (f)
		fclose(f);
	return all;
}

static int longest_first(const void *a, const void *b)
{
	const struct running_row *p = a, *q = b;

	return p->age == q->age ? p->tid - q->tid : p->age < q->age ? 1 : -1;
}

void running_collect(struct running *r)
{
	struct taken *all;
	size_t n;

	running_clear(r);
	*r->all = !r->begun || r->threads;
	r->round++;
	all = read_calls(r, &n);
	r->now = clock_ns();
	for (size_t i = 0; i < n; i++)
		add(r, &all[i]);
	free(all);
	running_early_tidy(r);
	if (r->n)
		qsort(r->rows, r->n, sizeof(*r->rows), longest_first);
	for (size_t i = 0; i < r->n; i++) {
		r->rows[i].time = r->now;
		r->rows[i].comm = r->rows[i].name;
	}
}

void running_start(struct running *r)
{
	r->since = clock_ns();
	r->quota = (struct quota){
		.limit = MOST, .what = "calls in flight", .loss = "further ones of its processes are left out",
	};
	running_collect(r);
	running_clear(r);
	r->begun = true;
}

void running_clear(struct running *r)
{
	for (size_t i = 0; i < r->n; i++)
		quota_give(&r->quota, r->rows[i].user, 1);
	free(r->rows);
	r->rows = NULL;
	r->n = 0;
}

void running_free(struct running *r)
{
	running_clear(r);
	r->round++;
	running_early_tidy(r);
	syms_free(r->syms);
	r->syms = NULL;
	quota_free(&r->quota);
}
