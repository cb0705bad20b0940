/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/device.h"
#include "abi/record.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "cudalaunchtop/gaps.h"
#include "gputime/gpu_calls.h"
#include "gputime/gpu_time.h"
#include "proc/proc.h"
#include "proc/process_table.h"
#include "sym/stack.h"

/* A run is counted when it ended so long ago: later ones than CALL_NS of gpu_records.c are not held there any more, and CUPTI
 * delivers within a tenth of a second. */
static const unsigned long long HOLD_NS = 2500000000;

/* How far CUPTI's clock may be ahead. */
static const unsigned long long AHEAD_NS = 1000000000;

/* How often threads are tidied. */
static const unsigned long long TIDY_NS = 10000000000;

/* Runs that are held: at first and at most.  Groups of a device. */
enum { RUNS_FIRST = 256, RUNS = 1 << 19, GROUPS = 16384 };

struct pending_run {
	unsigned long long start, end;	/* CLOCK_MONOTONIC, ns */
	unsigned long long called;	/* when its call returned, ns; 0: not known */
	const struct stack *site;	/* of the call, as is … */
	int tid;			/* … this */
};

struct gap_stack {
	struct gap_stack_key { const struct stack *stack; unsigned long long state; } key;
	struct gap_group *group;
	UT_hash_handle hh;
};

enum { DEVICE_COST = sizeof(struct gap_device) + 64, STACK_COST = sizeof(struct gap_stack) + 64,
       GROUP_COST = sizeof(struct gap_group) + 64 };

void gaps_open(struct gaps *g, struct process_table *processes)
{
	g->processes = processes;
	g->quota = (struct quota){
		.limit = 512 << 20, .what = "idle gaps of GPUs", .loss = "further ones are not shown, or without stacks",
	};
}

/* ---- Runs that are held: a heap by start */

static void put(struct pending_run *runs, unsigned at, const struct pending_run *r)
{
	while (at && runs[(at - 1) / 2].start > r->start) {
		runs[at] = runs[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	runs[at] = *r;
}

static struct pending_run take_first(struct gap_device *d)
{
	const struct pending_run first = d->runs[0], last = d->runs[--d->nruns];
	unsigned at = 0, child;

	while ((child = 2 * at + 1) < d->nruns) {
		child += child + 1 < d->nruns && d->runs[child + 1].start < d->runs[child].start;
		if (d->runs[child].start >= last.start)
			break;
		d->runs[at] = d->runs[child];
		at = child;
	}
	d->runs[at] = last;
	return first;
}

static bool gaps_make_room(struct gaps *g, struct gap_device *d)
{
	const unsigned room = d->room ? 2 * d->room : RUNS_FIRST;

	if (d->nruns < d->room)
		return true;
	if (room > RUNS || !quota_take(&g->quota, d->user, d->key.pid, (room - d->room) * sizeof(*d->runs)))
		return false;
	d->runs = xrealloc(d->runs, room, sizeof(*d->runs));
	d->room = room;
	return true;
}

/* ---- What the thread did */

static void name_frame(FILE *f, const struct frame_view *v, bool place)
{
	fprintf(f, "\n%d %s %s", v->kind, v->name ?: "", v->file ?: "");
	if (place)
		fprintf(f, " %llx %d", v->off, v->line);
}

/* A running thread is interrupted anywhere. */
static char *name_of(enum host_state state, const struct stack *stack)
{
	struct frame_view v;
	char *name = NULL;
	size_t size;
	FILE *f = open_memstream(&name, &size);

	if (!f)
		die(ENOMEM, "a call stack");
	fprintf(f, "%d", state);
	for (int i = 0; stack && stack_view(stack, i, &v); i++)
		name_frame(f, &v, state == HOST_IS_OFF);
	if (fclose(f))
		die(ENOMEM, "a call stack");
	return name;
}

static struct gap_group *new_group(struct gap_device *d, char *name, enum host_state state, const struct stack *stack)
{
	struct gap_group *p = xcalloc(1, sizeof(*p));

	*p = (struct gap_group){ .name = name, .state = state, .stack = stack };
	HASH_ADD_KEYPTR(hh, d->groups, p->name, strlen(p->name), p);
	return p;
}

/* Takes the name.  At the limit, groups without a stack are still made: there are HOST_STATES. */
static struct gap_group *group_named(struct gaps *g, struct gap_device *d, char *name, enum host_state state,
				     const struct stack *stack)
{
	struct gap_group *p;

	HASH_FIND(hh, d->groups, name, strlen(name), p);
	if (!p && stack && (HASH_COUNT(d->groups) >= GROUPS ||
			    !quota_take(&g->quota, d->user, d->key.pid, GROUP_COST + strlen(name)))) {
		free(name);
		return group_named(g, d, name_of(state, NULL), state, NULL);
	}
	if (!p)
		return new_group(d, name, state, stack);
	free(name);
	return p;
}

static struct gap_group *group_of(struct gaps *g, struct gap_device *d, enum host_state state, const struct stack *stack)
{
	const struct gap_stack_key key = { stack, state };
	struct gap_group *group;
	struct gap_stack *s;

	HASH_FIND(hh, d->stacks, &key, sizeof(key), s);
	if (s)
		return s->group;
	group = group_named(g, d, name_of(state, stack), state, stack);
	if (!quota_take(&g->quota, d->user, d->key.pid, STACK_COST))
		return group;
	s = xcalloc(1, sizeof(*s));
	*s = (struct gap_stack){ .key = key, .group = group };
	HASH_ADD(hh, d->stacks, key, sizeof(s->key), s);
	return group;
}

struct splitting {
	struct gaps *g;
	struct gap_device *d;
};

static void on_part(void *ctx, enum host_state state, const struct stack *stack, unsigned long long ns)
{
	const struct splitting *s = ctx;
	struct gap_group *p = group_of(s->g, s->d, state, stack);

	if (!ns)
		return;
	if (!p->part) {
		p->next = s->d->split;
		s->d->split = p;
	}
	p->part += ns;
}

static void gaps_add(struct gap_sum *to, unsigned long long ns)
{
	to->n++;
	to->ns += ns;
	to->most = to->most > ns ? to->most : ns;
	hist_add(&to->hist, ns, 1);
}

static void waited_for_host(struct gaps *g, struct gap_device *d, const struct pending_run *r, unsigned long long to)
{
	const struct host_span span = { .pid = d->key.pid, .tid = r->tid, .from = d->end, .to = to, .site = r->site };
	struct splitting s = { g, d };

	d->host += to - d->end;
	d->n++;
	d->split = NULL;
	host_threads_split(&g->threads, &span, on_part, &s);
	for (struct gap_group *p = d->split; p; p = p->next) {
		gaps_add(&p->sum, p->part);
		p->part = 0;
	}
}

/* ---- Runs in order */

static void on_gap(struct gaps *g, struct gap_device *d, const struct pending_run *r)
{
	const unsigned long long until = r->called < r->start ? r->called : r->start;

	if (!r->called) {
		d->unknown += r->start - d->end;
		return;
	}
	if (until > d->end)
		waited_for_host(g, d, r, until);
	d->queued += r->start - (until > d->end ? until : d->end);
}

static void gaps_count(struct gaps *g, struct gap_device *d, const struct pending_run *r)
{
	g->late += r->start < d->start;
	if (d->end && r->start > d->end)
		on_gap(g, d, r);
	if (r->end > d->end) {
		d->busy += r->end - (r->start > d->end ? r->start : d->end);
		d->end = r->end;
	}
	d->start = r->start > d->start ? r->start : d->start;
}

static struct gap_device *device_of(struct gaps *g, const struct gpu_run *r)
{
	const struct gap_device_key key = { r->pid, r->device };
	struct gap_device *d;
	unsigned user;

	HASH_FIND(hh, g->all, &key, sizeof(key), d);
	if (d)
		return d;
	user = process_user(g->processes, r->pid);
	if (!quota_take(&g->quota, user, r->pid, DEVICE_COST))
		return NULL;
	d = xcalloc(1, sizeof(*d));
	d->key = key;
	d->user = user;
	proc_comm(r->pid, d->comm);
	HASH_ADD(hh, g->all, key, sizeof(d->key), d);
	return d;
}

void gaps_run(void *ctx, const struct gpu_run *r)
{
	struct pending_run run = { .start = r->start, .end = r->end };
	struct gaps *g = ctx;
	struct gap_device *d;

	if (g->only && !device_is_in(g->only, r->device))
		return;
	if (!r->start || r->end < r->start || r->end > clock_ns() + AHEAD_NS) {
		g->wrong++;
		return;
	}
	d = device_of(g, r);
	if (!d)
		return;
	if (r->caller) {
		run.called = r->caller->end;
		run.tid = r->caller->tid;
		run.site = r->caller->site;
	}
	if (!gaps_make_room(g, d) && d->nruns) {
		const struct pending_run first = take_first(d);

		gaps_count(g, d, &first);
	}
	if (d->room)
		put(d->runs, d->nruns++, &run);
	else
		gaps_count(g, d, &run);
}

static void count_until(struct gaps *g, struct gap_device *d, unsigned long long time)
{
	while (d->nruns && d->runs[0].end <= time) {
		const struct pending_run r = take_first(d);

		gaps_count(g, d, &r);
	}
}

void gaps_tick(struct gaps *g, bool all)
{
	const unsigned long long now = clock_ns();

	for (struct gap_device *d = g->all; d; d = d->hh.next)
		count_until(g, d, all ? ~0ull : now - HOLD_NS);
	if (now - g->tidied < TIDY_NS)
		return;
	g->tidied = now;
	host_threads_tidy(&g->threads);
}

/* ---- Intervals and ends */

static void clear(struct gaps *g, struct gap_device *d)
{
	struct gap_group *p, *next_group;
	struct gap_stack *s, *next_stack;

	HASH_ITER(hh, d->stacks, s, next_stack) {
		HASH_DEL(d->stacks, s);
		quota_give(&g->quota, d->user, STACK_COST);
		free(s);
	}
	HASH_ITER(hh, d->groups, p, next_group) {
		HASH_DEL(d->groups, p);
		quota_give(&g->quota, d->user, p->stack ? GROUP_COST + strlen(p->name) : 0);
		free(p->name);
		free(p);
	}
	d->busy = d->host = d->queued = d->unknown = d->n = 0;
}

static void free_device(struct gaps *g, struct gap_device *d)
{
	clear(g, d);
	quota_give(&g->quota, d->user, DEVICE_COST + d->room * sizeof(*d->runs));
	free(d->runs);
	free(d);
}

static void free_ended(struct gaps *g)
{
	struct gap_device *d;

	while ((d = g->ended)) {
		g->ended = d->next;
		free_device(g, d);
	}
}

/* Its last runs are shown once more. */
void gaps_ended(void *ctx, const struct process_event *event)
{
	struct gaps *g = ctx;
	struct gap_device *d, *next;

	HASH_ITER(hh, g->all, d, next) {
		if (d->key.pid != (int)event->head.pid)
			continue;
		count_until(g, d, ~0ull);
		HASH_DEL(g->all, d);
		d->next = g->ended;
		g->ended = d;
	}
	host_threads_ended(&g->threads, event);
}

static void each(const struct gap_device *d, gap_device_fn *fn, void *ctx)
{
	if (d->busy + d->host + d->queued + d->unknown)
		fn(ctx, d);
}

void gaps_each(const struct gaps *g, gap_device_fn *fn, void *ctx)
{
	for (const struct gap_device *d = g->ended; d; d = d->next)
		each(d, fn, ctx);
	for (const struct gap_device *d = g->all; d; d = d->hh.next)
		each(d, fn, ctx);
}

void gaps_clear(struct gaps *g)
{
	free_ended(g);
	for (struct gap_device *d = g->all; d; d = d->hh.next)
		clear(g, d);
}

void gaps_close(struct gaps *g)
{
	struct gap_device *d, *next;

	if (g->late)
		warning(0, "%llu runs on the GPU came too late: time in which they ran counts as a gap", g->late);
	if (g->wrong)
		warning(0, "ignored %llu runs on the GPU with impossible times", g->wrong);
	free_ended(g);
	HASH_ITER(hh, g->all, d, next) {
		HASH_DEL(g->all, d);
		free_device(g, d);
	}
	quota_free(&g->quota);
	host_threads_close(&g->threads);
}
