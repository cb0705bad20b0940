/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/util.h"
#include "cudatrace/trace_call.h"
#include "cudatrace/trace_line.h"
#include "cudatrace/trace_repeats.h"
#include "proc/process_table.h"

static const unsigned long long INTERVAL_NS = 1000000000;

struct trace_repeat {
	struct repeat_key {
		const struct stack *stack;
		const struct kernel *kernel;
		const char *next;
		long long ret;
		int pid;
		unsigned id, device;	/* id: of its function */
	} key;
	unsigned user;
	size_t cost;			/* bytes of the quota */
	unsigned long long printed;	/* when the call of its last line returned, CLOCK_MONOTONIC, ns */
	struct trace_call *last;	/* of those that are held; NULL: none */
	unsigned long long n;		/* how many they are */
	UT_hash_handle hh;
};

struct trace_repeats trace_repeats_init(struct trace_lines *lines, struct process_table *processes)
{
	return (struct trace_repeats){
		.lines = lines, .processes = processes, .due = ~0ull,
		.quota = {
			.limit = 8 << 20, .what = "failures that repeat", .loss = "further ones have a line each",
		},
	};
}

static void hold(struct trace_repeat *p, const struct trace_call *call)
{
	if (p->last)
		trace_call_drop(p->last);
	p->last = call ? trace_call_keep(call) : NULL;
	p->n = call ? p->n + 1 : 0;
}

static void print_held(struct trace_repeats *r, struct trace_repeat *p)
{
	p->last->count = p->n;
	p->last->span = p->last->event->time > p->printed ? p->last->event->time - p->printed : 0;
	trace_line(r->lines, p->last);
	p->printed = p->last->event->time;
	hold(p, NULL);
}

static void trace_repeats_drop(struct trace_repeats *r, struct trace_repeat *p)
{
	hold(p, NULL);
	kernel_put(p->key.kernel);
	HASH_DEL(r->all, p);
	quota_give(&r->quota, p->user, p->cost);
	free(p);
}

/* Its entries differ in size: it is charged for the first one, and for as much again. */
static void trace_repeats_add(struct trace_repeats *r, const struct repeat_key *key, const struct trace_call *call)
{
	const unsigned user = process_user(r->processes, key->pid);
	struct trace_repeat *p;
	const size_t cost = sizeof(*p) + 64 + 2 * trace_call_cost(call);

	if (!quota_take(&r->quota, user, key->pid, cost))
		return;
	p = xcalloc(1, sizeof(*p));
	*p = (struct trace_repeat){ .key = *key, .user = user, .cost = cost, .printed = call->event->time };
	kernel_get(key->kernel);
	HASH_ADD(hh, r->all, key, sizeof(p->key), p);
	if (p->printed + INTERVAL_NS < r->due)
		r->due = p->printed + INTERVAL_NS;
}

void trace_repeats_call(struct trace_repeats *r, const struct trace_call *call)
{
	struct repeat_key key;
	struct trace_repeat *p;

	trace_repeats_tick(r, call->event->time);
	memset(&key, 0, sizeof(key));	/* padding is compared, too */
	key.stack = call->stack;
	key.kernel = call->kernel;
	key.next = call->next;
	key.ret = call->event->ret;
	key.pid = call->event->head.pid;
	key.id = call->event->id;
	key.device = call->event->device;
	HASH_FIND(hh, r->all, &key, sizeof(key), p);
	if (p && (!call->cause || call->cause->again)) {	/* the launches before a fault are no repetition */
		hold(p, call);
		return;
	}
	trace_line(r->lines, call);
	if (!p)
		trace_repeats_add(r, &key, call);
}

void trace_repeats_tick(struct trace_repeats *r, unsigned long long now)
{
	struct trace_repeat *p, *next;

	if (now < r->due)
		return;
	r->due = ~0ull;
	HASH_ITER(hh, r->all, p, next) {
		if (p->printed + INTERVAL_NS <= now) {
			if (!p->last) {
				trace_repeats_drop(r, p);
				continue;
			}
			print_held(r, p);
		}
		if (p->printed + INTERVAL_NS < r->due)
			r->due = p->printed + INTERVAL_NS;
	}
}

void trace_repeats_end(struct trace_repeats *r, int pid)
{
	struct trace_repeat *p, *next;

	HASH_ITER(hh, r->all, p, next) {
		if (pid >= 0 && p->key.pid != pid)
			continue;
		if (p->last)
			print_held(r, p);
		trace_repeats_drop(r, p);
	}
	if (pid < 0)
		quota_free(&r->quota);
}
