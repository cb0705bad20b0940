/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "abi/device.h"
#include "abi/launch.h"
#include "cudatrace/trace_call.h"
#include "cudatrace/trace_execution.h"
#include "cudatrace/trace_records.h"
#include "model/aggregate.h"
#include "proc/process_table.h"
#include "proc/signals.h"
#include "sym/syms.h"

void trace_ended(void *ctx, const struct process_event *e)
{
	struct trace *t = ctx;

	trace_tree_end(&t->trees, e->head.pid);
	trace_unchecked_forget(&t->failures, e->head.pid);
	trace_repeats_end(&t->repeats, e->head.pid);
	if (!signal_passed())	/* else a process that it has killed is in its last call: see inflight/inflight.h */
		trace_sticky_forget(&t->sticky, e->head.pid);
	if (t->allocations)
		chrome_held_end(&t->timeline.out, memory_process(&t->held.memory, e), e->time);
	trace_held_forget(&t->held, e->head.pid);
	trace_chrome_forget(&t->timeline, e->head.pid);
	trace_execution_forget(t->programs, e->head.pid);
	trace_first_forget(&t->firsts, e->head.pid);
	captures_program_ended(&t->captures, e->program);
}

static void set_container(struct trace *t, struct trace_call *call)
{
	const char *id = process_container(t->processes, call->event->head.pid);

	if (id)
		memcpy(call->container, id, sizeof(call->container));
}

bool trace_done(const struct trace *t)
{
	return t->max && t->shown >= t->max;
}

/* With --tree the probes send calls on every device, and needed functions always. */
static bool is_wanted(const struct trace *t, const struct trace_call *call)
{
	return !t->only || device_is_in(t->only, call->event->device);
}

static bool is_quick(const struct trace *t, const struct trace_call *call)
{
	return trace_duration(call) < (unsigned long)t->slower;
}

/* Return true if a call of the function shows that its program uses the device: most programs that use only one begin
 * by choosing it, and by asking for the properties of all. */
static bool uses_device(const struct trace *t, unsigned int id, unsigned int device)
{
	const int role = t->functions[id].role - 1;

	if (role < 0)
		return device && !t->places[id].dev;
	return device && cuda_fns[role].class != CUDA_CTX && cuda_fns[role].class != CUDA_POOLS;
}

static void summarize(struct trace *t, const struct trace_call *call, bool uses)
{
	const struct trace_event *e = call->event;
	const unsigned long long ns = trace_duration(call);

	trace_summary_add(&t->calls, &(struct trace_calls){
		.id = e->id, .device = e->device, .pid = e->head.pid, .comm = e->comm,
		.n = 1, .errors = call->failed, .total = ns, .least = ns, .most = ns }, uses);
}

void trace_counted(struct trace *t, const struct aggregate *calls)
{
	const unsigned int id = calls->key.key, device = device_of_key(calls->key.device);

	if (!calls->count || id >= (unsigned)cuda_protos_n)	/* programs may have written it */
		return;
	trace_summary_add(&t->calls, &(struct trace_calls){
		.id = id, .device = device, .pid = calls->key.pid, .comm = calls->comm,
		.n = calls->count, .errors = calls->key.series == TRACE_FAILED ? calls->count : 0,
		.total = calls->sum, .least = calls->least, .most = calls->most }, uses_device(t, id, device));
}

static void show(struct trace *t, const struct trace_call *call)
{
	const bool uses = uses_device(t, call->event->id, call->event->device);

	if (is_quick(t, call) || !is_wanted(t, call) || trace_done(t))
		return;
	t->shown += call->event->head.kind != TRACE_ENTER || t->no_returns;
	if (uses)
		trace_lines_see(&t->lines, call->event->device);
	if (t->summary)
		summarize(t, call, uses);
	if (t->chrome)
		trace_chrome_call(&t->timeline, call);
	if (call->event->head.kind != TRACE_ENTER)
		profile_add(&t->profile, &(struct profile_event){
			call->event->head.pid, call->event->comm, call->proto->name, call->stack,
			call->event->device, { trace_duration(call), 1 } });
	if (t->folded || (t->summary && t->lines.stacks))
		stack_sums_add(&t->sums, call->event->head.pid, call->event->comm, call->stack, call->proto->name,
			       trace_duration(call));
	if (t->summary || t->chrome || t->folded)
		return;
	if (t->tree && !t->lines.entries)
		trace_tree_call(&t->trees, call);
	else if (t->failed)
		trace_repeats_call(&t->repeats, call);
	else
		trace_line(&t->lines, call);
}

/* Return true if the call is selected, or one that shows whether errors are checked. */
static bool is_shown(const struct trace *t, const struct trace_call *call)
{
	return call->function->flags & TRACE_SHOWN || (call->function->flags & TRACE_FIRST && call->first) ||
	       (t->unchecked && trace_checks_errors(call->proto));
}

int trace_record(struct trace *t, const void *data, size_t size)
{
	const struct trace_event *e = data;
	struct trace_call call;

	if (size >= sizeof(struct process_event) && record_is_process_event(data)) {
		const struct process_event *process = data;

		if (process->head.kind == RECORD_FORK)
			trace_execution_fork(t->programs, process->parent, process->head.pid);
		return 0;
	}
	captures_record(&t->captures, &e->head);
	if (e->head.kind > TRACE_UNFINISHED || !trace_call_read(&call, t->functions, data, size))
		return 0;
	call.names = t->names;
	trace_execution_call(t->programs, t->probes, &t->firsts, &call);
	call.late = call.first && process_is_preexisting(t->processes, e->head.pid);
	if (t->allocations)
		chrome_held(&t->timeline.out, trace_held_call(&t->held, &call), e->time, 1);
	if (!is_shown(t, &call))
		return 0;
	set_container(t, &call);
	call.stack = stack_get(t->syms, e->head.pid, call.frames, e->head.frames);
	call.cause = trace_sticky_note(&t->sticky, &call);
	if (t->unchecked)
		call.failed &= is_wanted(t, &call);
	if (t->unchecked)
		trace_unchecked_call(&t->failures, &call);
	else if (!t->failed || call.failed)
		show(t, &call);
	return 0;
}

void trace_free(struct trace *t)
{
	trace_tree_end(&t->trees, -1);
	trace_unchecked_forget(&t->failures, -1);
	trace_repeats_end(&t->repeats, -1);
	trace_sticky_free(&t->sticky);
	trace_firsts_free(&t->firsts);
	trace_held_free(&t->held);
	trace_summary_free(&t->calls);
	stack_sums_free(&t->sums);
	free(t->functions);
	free(t->places);
	free(t->selected);
}
