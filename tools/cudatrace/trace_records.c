/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "cli/opt.h"
#include "sym/syms.h"
#include "cudatrace/trace.h"
#include "cudatrace/sticky_error.h"
#include "cudatrace/trace_chrome.h"
#include "cudatrace/trace_program.h"
#include "cudatrace/trace_records.h"
#include "cudatrace/trace_select.h"
#include "cudatrace/trace_summary.h"
#include "cudatrace/trace_tree.h"
#include "cudatrace/trace_unchecked.h"

static const struct trace *trace;

static void check(const struct trace *t)
{
	const struct trace_lines *l = &t->lines;

	if ((t->summary || t->chrome) && (l->times || l->durations || l->stacks || l->entries))
		usage_error("--summary and --chrome print no lines: no --timestamp, --time-spent, --stack, "
			"--enter or --enter-only with them");
	if (t->unchecked && (t->summary || t->chrome || t->failed || l->entries || t->tree))
		usage_error("--unchecked prints nothing else: no --summary, --chrome, --failed, --enter, "
			"--enter-only or --tree with it");
	if (t->failed && l->entries)
		usage_error("--failed knows a call by its return: no --enter or --enter-only with it");
	if (t->no_returns && (t->tree || l->durations))
		usage_error("--enter-only sees no returns: no --tree or --time-spent with it");
}

/* It is not asked for, but tells something that is needed. */
static bool tells(const struct cuda_proto *p)
{
	return (trace->launches && trace_names_kernels(p)) || (trace->unchecked && trace_asks(p));
}

static struct function get(const struct probes *probes, int id)
{
	const struct cuda_proto *p = &cuda_protos[id];

	(void)probes;
	return (struct function){
		.name = p->name, .lib = p->lib, .returns = !trace->no_returns,
		.wanted = trace->selected[id] || tells(p),
	};
}

const struct probe_source trace_chosen = { cuda_proto_find, get };

static unsigned flags_of(int id)
{
	const struct cuda_proto *p = &cuda_protos[id];
	unsigned flags = 0;

	if (trace->selected[id] == TRACE_WANTED)
		flags |= TRACE_SHOWN;
	if (trace->selected[id] == TRACE_UNWANTED && !tells(p))
		flags |= TRACE_HIDES;
	if (trace_names_kernels(p))
		flags |= TRACE_NAMES | TRACE_ALWAYS;
	if (trace_is_launch(p) || trace_is_wait(p))
		flags |= TRACE_ALWAYS;
	return flags;
}

void trace_prepare(struct trace *t)
{
	bool full = !t->summary || t->chrome;

	t->lines.entries |= t->no_returns;
	t->lines.nested = t->tree;
	t->lines.unchecked = t->unchecked;
	check(t);
	t->selected = trace_select(t->expression);
	trace = t;
	for (int i = 0; i < cuda_protos_n; i++)
		t->launches |= full && t->selected[i] == TRACE_WANTED && trace_is_launch(&cuda_protos[i]);
	for (int i = 0; i < cuda_protos_n; i++)
		trace_describe(i, flags_of(i), full);
}

static void on_process(const struct trace_event *e)
{
	if (e->what == TRACE_FORK) {
		trace_program_fork(trace->programs, e->pid, e->ret);
		return;
	}
	trace_tree_end(e->pid);
	trace_unchecked_forget(e->pid);
	sticky_error_forget(e->pid);
	trace_program_forget(trace->programs, e->pid);
	syms_forget(trace->syms, e->pid);
}

static void show(const struct trace_call *call)
{
	if (trace->summary)
		trace_summary_add(call);
	if (trace->chrome)
		trace_chrome_call(call);
	if (trace->summary || trace->chrome)
		return;
	if (trace->tree && !trace->lines.entries)
		trace_tree_call(call);
	else
		trace_line(call);
}

int trace_record(void *ctx, void *data, size_t size)
{
	const struct trace_event *e = data;
	struct trace_call call;
	int skip;

	(void)ctx;
	if (size >= sizeof(*e) && e->what >= TRACE_FORK) {
		on_process(e);
		return 0;
	}
	if (!trace_call_read(&call, data, size))
		return 0;
	trace_program_call(trace->programs, &call);
	if (!(call.function->flags & TRACE_SHOWN) && !(trace->unchecked && trace_asks(call.proto)))
		return 0;
	call.cause = sticky_error_note(&call);
	skip = e->frames && !*call.frames;
	call.stack = stack_get(trace->syms, e->pid, call.frames + skip, e->frames - skip);
	if (trace->unchecked)
		trace_unchecked_call(&call);
	else if (!trace->failed || call.failed)
		show(&call);
	return 0;
}
