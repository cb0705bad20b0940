/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "abi/cuda_sticky.h"
#include "base/hash.h"
#include "cudatrace/trace_args.h"
#include "cudatrace/trace_errors.h"
#include "cudatrace/trace_repeats.h"
#include "proc/process_table.h"
#include "sym/stack.h"

/* The work before an event: up to this number, in its stream. */
struct sticky_event {
	unsigned long long event, stream, last;
};

enum { STICKY_EVENTS = 64 };	/* those recorded last */

struct sticky_process {
	int pid;
	unsigned user;
	struct sticky_error now;	/* since the last wait */
	bool reported;		/* an error was reported since then */
	unsigned long long work;	/* launches and copies so far */
	struct sticky_event events[STICKY_EVENTS];
	unsigned recorded;	/* events so far */
	UT_hash_handle hh;
};

/* A process's bytes on the heap, with its place in the table. */
enum { PROCESS_COST = sizeof(struct sticky_process) + 32 };

static const struct sticky_error again = { .again = true };

struct trace_sticky trace_sticky_init(struct process_table *processes)
{
	return (struct trace_sticky){
		.processes = processes,
		.quota = {
			.limit = 16 << 20, .what = "launches that may have caused errors",
			.loss = "further processes' errors are shown without",
		},
	};
}

/* Returns NULL if there are too many. */
static struct sticky_process *trace_errors_process_of(struct trace_sticky *s, int pid)
{
	struct sticky_process *p;
	unsigned user;

	HASH_FIND_INT(s->by_pid, &pid, p);
	if (p)
		return p;
	user = process_user(s->processes, pid);
	if (!quota_take(&s->quota, user, pid, PROCESS_COST))
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	p->user = user;
	HASH_ADD_INT(s->by_pid, pid, p);
	return p;
}

static void trace_errors_forget(struct trace_sticky *s, struct sticky_process *p)
{
	HASH_DEL(s->by_pid, p);
	quota_give(&s->quota, p->user, PROCESS_COST);
	sticky_error_put(&p->now);
	free(p);
}

void trace_sticky_forget(struct trace_sticky *s, int pid)
{
	struct sticky_process *p;

	HASH_FIND_INT(s->by_pid, &pid, p);
	if (p)
		trace_errors_forget(s, p);
}

void trace_sticky_free(struct trace_sticky *s)
{
	struct sticky_process *p, *next;

	HASH_ITER(hh, s->by_pid, p, next)
		trace_errors_forget(s, p);
	quota_free(&s->quota);
}

static unsigned long long call_stream(const struct trace_call *call, const struct cuda_args *row)
{
	unsigned long long stream = trace_word(call, row->stream);

	trace_target(call, row->params, CUDA_CONFIG_STREAM, &stream, sizeof(stream));
	return stream;
}

static bool is_same_work(const struct sticky_launch *a, const struct sticky_launch *b)
{
	return a->copy == b->copy && a->func == b->func && a->stream == b->stream && a->stack == b->stack;
}

/* A launch or an asynchronous copy. */
static void note_work(struct sticky_process *p, const struct trace_call *call, const struct cuda_fn *fn)
{
	const struct cuda_args *row = &fn->args;
	struct sticky_error *now = &p->now;
	struct sticky_launch l = {
		.copy = fn->class == CUDA_COPY ? call->proto->name : NULL,
		.func = trace_word(call, row->handle ? row->handle : row->func),
		.stream = call_stream(call, row), .kernel = call->kernel, .stack = stack_shown(call->stack),
		.count = 1, .last = ++p->work,
	};
	int i = 0;

	while (i < now->n && !is_same_work(&now->launched[i], &l))
		i++;
	if (i == STICKY_LAUNCHES) {
		now->others += !l.copy;
	} else if (i < now->n) {
		now->launched[i].count++;
		now->launched[i].last = l.last;
	} else {
		kernel_get(l.kernel);
		now->launched[now->n++] = l;
	}
}

/* cudaMemcpyDeviceToHost; HostToHost and HostToDevice are less.  A copy within the device is not waited for ("API synchronization
 * behavior" of the runtime's manual), and of Default it is not known; a per-thread default stream is one thread's. */
enum { DEVICE_TO_HOST = 2 };

static bool records_event(const struct cuda_fn *fn)
{
	return fn->class == CUDA_EVENT && fn->args.op == CUDA_RECORD;
}

bool trace_waits(const struct cuda_fn *fn)
{
	const struct cuda_args *row = &fn->args;

	return fn->class == CUDA_SYNC || records_event(fn) || (fn->class == CUDA_COPY && !row->async && !row->per_thread &&
					  (row->kind || row->direction == CUDA_HTOD || row->direction == CUDA_DTOH));
}

static void note_event(struct sticky_process *p, const struct trace_call *call, const struct cuda_args *row)
{
	p->events[p->recorded++ % STICKY_EVENTS] = (struct sticky_event){
		trace_word(call, row->event), trace_word(call, row->stream), p->work };
}

/* The last recording of the event; NULL: unknown. */
static const struct sticky_event *recorded(const struct sticky_process *p, unsigned long long event)
{
	for (unsigned i = 1; i <= STICKY_EVENTS && i <= p->recorded; i++)
		if (p->events[(p->recorded - i) % STICKY_EVENTS].event == event)
			return &p->events[(p->recorded - i) % STICKY_EVENTS];
	return NULL;
}

/* Returns true if a successful call of such a function has waited for the launch.  Calls that were counted together have been
 * waited for together. */
static bool waited_for(const struct sticky_process *p, const struct sticky_launch *l, const struct trace_call *call,
		       const struct cuda_fn *fn)
{
	const unsigned long long legacy = 1;	/* cudaStreamLegacy, which 0 is, too */
	const struct sticky_event *e = fn->args.event ? recorded(p, trace_word(call, fn->args.event)) : NULL;

	if (fn->args.event)
		return e && e->stream == l->stream && l->last <= e->last;
	if (fn->class == CUDA_SYNC)
		return !fn->args.stream || l->stream == trace_word(call, fn->args.stream);
	return l->stream <= legacy && (fn->args.direction || trace_word(call, fn->args.kind) <= DEVICE_TO_HOST);
}

static void note_wait(struct sticky_process *p, const struct trace_call *call, const struct cuda_fn *fn)
{
	struct sticky_error *now = &p->now;
	int kept = 0;

	for (int i = 0; i < now->n; i++) {
		if (waited_for(p, &now->launched[i], call, fn))
			kernel_put(now->launched[i].kernel);
		else
			now->launched[kept++] = now->launched[i];
	}
	now->n = kept;
	if (fn->class == CUDA_SYNC && !fn->args.stream && !fn->args.event)
		now->others = 0;
}

bool trace_is_work(const struct cuda_fn *fn)
{
	return fn->class == CUDA_LAUNCH || (fn->class == CUDA_COPY && fn->args.async);
}

static const struct sticky_error *report(struct sticky_process *p)
{
	if (!p)
		return NULL;
	if (p->reported)
		return &again;
	p->reported = true;
	return &p->now;
}

const struct sticky_error *trace_sticky_note(struct trace_sticky *s, const struct trace_call *call)
{
	const struct cuda_fn *role = trace_role(call->proto);
	int ret = call->event->ret;
	struct sticky_process *p;

	if (call->event->head.kind != TRACE_CALL || call->event->part || call->proto->lib > CUDA_LIB_MAX)
		return NULL;
	if (trace_error(call))
		return cuda_error_is_sticky(ret) ? report(trace_errors_process_of(s, call->event->head.pid)) : NULL;
	if (!role || ret || call->event->captured || (!trace_is_work(role) && !trace_waits(role)))
		return NULL;
	p = trace_errors_process_of(s, call->event->head.pid);
	if (!p)
		return NULL;
	p->reported = false;
	if (trace_is_work(role))
		note_work(p, call, role);
	else if (records_event(role))
		note_event(p, call, &role->args);
	else
		note_wait(p, call, role);
	return NULL;
}

const struct sticky_error *trace_sticky_outstanding(const struct trace_sticky *s, int pid)
{
	struct sticky_process *p;

	HASH_FIND_INT(s->by_pid, &pid, p);
	return p && (p->now.n || p->now.others) ? &p->now : NULL;
}

/* A thread's last call, if it failed. */
struct trace_failure {
	int tid;
	unsigned user;
	size_t cost;		/* bytes of the quota */
	struct trace_call *call;
	UT_hash_handle hh;
};

struct trace_unchecked trace_unchecked_init(struct trace_repeats *repeats, struct process_table *processes)
{
	return (struct trace_unchecked){
		.repeats = repeats, .processes = processes,
		.quota = {
			.limit = 8 << 20, .what = "failed calls that may be unchecked",
			.loss = "those of further threads are not printed",
		},
	};
}

bool trace_checks_errors(const struct cuda_proto *proto)
{
	return proto->group == CUDA_GROUP_error;
}

static void trace_errors_drop(struct trace_unchecked *u, struct trace_failure *p)
{
	HASH_DEL(u->by_tid, p);
	quota_give(&u->quota, p->user, p->cost);
	trace_call_drop(p->call);
	free(p);
}

static void trace_errors_add(struct trace_unchecked *u, const struct trace_call *call)
{
	int pid = call->event->head.pid;
	unsigned user = process_user(u->processes, pid);
	struct trace_failure *p;
	size_t cost = sizeof(*p) + 32 + trace_call_cost(call);

	if (!quota_take(&u->quota, user, pid, cost))
		return;
	p = xcalloc(1, sizeof(*p));
	p->tid = call->event->tid;
	p->user = user;
	p->cost = cost;
	p->call = trace_call_keep(call);
	HASH_ADD_INT(u->by_tid, tid, p);
}

void trace_unchecked_call(struct trace_unchecked *u, const struct trace_call *call)
{
	int tid = call->event->tid;
	struct trace_failure *p;

	if (call->event->head.kind != TRACE_CALL || call->event->depth)
		return;
	HASH_FIND_INT(u->by_tid, &tid, p);
	/* the thread that had this tid before may have exited */
	if (p && !trace_checks_errors(call->proto) && p->call->event->head.pid == call->event->head.pid) {
		p->call->next = call->proto->name;
		trace_repeats_call(u->repeats, p->call);
	}
	if (p)
		trace_errors_drop(u, p);
	if (call->failed)
		trace_errors_add(u, call);
}

void trace_unchecked_forget(struct trace_unchecked *u, int pid)
{
	struct trace_failure *p, *next;

	HASH_ITER(hh, u->by_tid, p, next)
		if (pid < 0 || (int)p->call->event->head.pid == pid)
			trace_errors_drop(u, p);
	if (pid < 0)
		quota_free(&u->quota);
}
