/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "base/escape.h"
#include "cli/out.h"
#include "cli/row.h"
#include "view/columns.h"
#include "view/stack_view.h"
#include "cudatrace/trace.h"
#include "cudatrace/trace_args.h"
#include "cudatrace/trace_color.h"
#include "cudatrace/trace_line.h"
#include "cudatrace/trace_sticky.h"

/* A call, and how to show it. */
struct shown {
	const struct trace_call *call;
	const struct trace_lines *lines;
};

struct line_row {
	unsigned long long time, since, latency;
	int pid, tid, depth;
	unsigned int device;
	const char *comm, *container, *layer, *func, *at, *kernel, *error, *next;
	struct out_print call, args, ret, cause;
	const struct stack *stack;
};

static void print_args(FILE *f, const void *call)
{
	putc('{', f);
	trace_args(f, true, call);
	putc('}', f);
}

static void print_ret(FILE *f, const void *call)
{
	trace_result(f, true, call);
}

static void print_cause(FILE *f, const void *of)
{
	const struct trace_call *call = of;

	trace_sticky_json(f, call->cause);
}

static void print_result(FILE *f, bool red, const struct trace_call *call)
{
	color_begin(f, red, COLOR_ERROR);
	trace_result(f, false, call);
	color_end(f, red);
}

/* The part of the line that looks like strace's. */
static void print_call(FILE *f, const void *of)
{
	const struct shown *shown = of;
	const struct trace_lines *lines = shown->lines;
	const struct trace_call *call = shown->call;
	unsigned short what = call->event->head.kind;

	for (int i = 0; lines->nested && i < call->event->depth; i++)
		fputs("  ", f);
	if (lines->entries)
		fputs(what == TRACE_ENTER ? "> " : "< ", f);
	color_begin(f, lines->color, COLOR_NAME);
	fputs(call->proto->name, f);
	color_end(f, lines->color);
	putc('(', f);
	trace_args(f, false, call);
	putc(')', f);
	if (what == TRACE_ENTER)
		return;
	if (what == TRACE_LEFT || call->proto->result.kind != CUDA_KIND_NONE) {
		fputs(" = ", f);
		print_result(f, lines->color && call->failed, call);
	}
	if (what == TRACE_LEFT)
		fputs(" (thread exited during the call)", f);
	if (lines->durations)
		fprintf(f, " <%.6f>", trace_duration(call) / 1e9);
	if (call->cause)
		trace_sticky_text(f, call->cause);
	if (call->next)
		fprintf(f, " [error not checked; next call: %s]", call->next);
}

OUT_WORD(row_type, "call");

#define AT(f) offsetof(struct line_row, f)
enum { TIME = 1, SINCE = 2, WHERE = 10, DEPTH = 11, NEXT = 17, STACK = 19 };
static const struct field all[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* a call, or with --enter an entry */
	[TIME] = { "time", "TIME", -12, OUT_TIME, AT(time) },
	[SINCE] = { "since_ns", "SINCE(us)", 12, OUT_US, AT(since) },	/* with --relative: since the line before */
	{ "pid", NULL, -7, OUT_INT, AT(pid) },
	{ "tid", NULL, -7, OUT_INT, AT(tid) },
	{ "comm", NULL, -15, OUT_STR, AT(comm) },
	{ "container", NULL, -12, OUT_STR, AT(container) },
	{ "device", NULL, 6, OUT_DEVICE, AT(device) },
	{ "layer", NULL, -7, OUT_STR, AT(layer) },	/* runtime or driver */
	{ "func", NULL, 0, OUT_STR, AT(func) },
	[WHERE] = { "at", NULL, 0, OUT_STR, AT(at) },	/* with --enter: enter or return */
	[DEPTH] = { "depth", NULL, 0, OUT_INT, AT(depth) },	/* with --tree: calls around it */
	{ "args", NULL, 0, OUT_PRINT, AT(args) },	/* object: by name; *NAME: what NAME points to */
	{ "kernel", NULL, 0, OUT_STR, AT(kernel) },	/* launched */
	{ "latency_ns", NULL, 0, OUT_UINT, AT(latency) },	/* ns: of the call; null at its entry */
	{ "ret", NULL, 0, OUT_PRINT, AT(ret) },	/* any: result; 0: success; null if unknown */
	{ "error", NULL, 0, OUT_STR, AT(error) },	/* name of the error; null if none */
	[NEXT] = { "next", NULL, 0, OUT_STR, AT(next) },	/* with --unchecked: next function of the thread */
	{ "earlier", NULL, 0, OUT_PRINT, AT(cause) },	/* array of string: kernels that may have caused the error */
	[STACK] = { "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ NULL, "CALL", -1, OUT_PRINT, AT(call) },
	{ 0 }
};
_Static_assert(sizeof(all) == sizeof(((struct trace_lines *)0)->fields), "room for each field");

/* A head of CALL alone says nothing. */
static void print_head(const struct field *fields)
{
	int columns = 0;

	for (const struct field *f = fields; f->type; f++)
		columns += !!f->head;
	if (columns > 1)
		out_head(fields);
}

void trace_lines_init(struct trace_lines *lines, bool several)
{
	struct field *fields = lines->fields;

	memcpy(fields, all, sizeof(all));
	fields[TIME].head = lines->times ? "TIME" : NULL;
	if (lines->times > 1)
		fields[TIME].width = -15;
	if (!lines->relative)
		fields[SINCE].head = fields[SINCE].key = NULL;
	fields[WHERE].key = lines->entries ? "at" : NULL;
	fields[DEPTH].key = lines->nested ? "depth" : NULL;
	fields[NEXT].key = lines->unchecked ? "next" : NULL;
	if (!lines->stacks)
		fields[STACK].type = OUT_BOOL, fields[STACK].key = NULL;
	if (several)
		trace_columns_processes(fields);
	if (lines->seen.several)
		columns_show(fields, "device", "DEVICE");
	if (lines->nested)
		trace_columns_layers(fields);
	print_head(fields);
}

void trace_lines_see(struct trace_lines *lines, unsigned int device)
{
	devices_see(&lines->seen, device);
	if (lines->seen.several)
		lines->wider |= columns_show(lines->fields, "device", "DEVICE");
}

void trace_line(struct trace_lines *lines, const struct trace_call *call)
{
	const struct trace_event *e = call->event;
	const struct shown shown = { call, lines };
	bool whole = e->head.kind != TRACE_ENTER;
	struct line_row r = {
		.time = e->time, .latency = whole ? trace_duration(call) : OUT_NONE, .pid = e->head.pid,
		.tid = e->tid, .device = e->device, .depth = e->depth, .comm = e->comm,
		.container = *call->container ? call->container : NULL,
		.layer = cuda_lib_name(call->proto->lib),
		.func = call->proto->name, .at = whole ? "return" : "enter",
		.kernel = trace_kernel_name(call), .error = trace_error(call), .next = call->next,
		.call = { print_call, &shown }, .args = { print_args, call }, .ret = { print_ret, call },
		.cause = { print_cause, call }, .stack = call->stack,
	};

	/* a call that is printed late, as with --tree, may have returned before */
	r.since = *lines->previous && r.time > *lines->previous ? r.time - *lines->previous : 0;
	*lines->previous = r.time;
	lines->wider |= trace_columns_see(&lines->columns, lines->fields, call);
	if (lines->wider)
		print_head(lines->fields);
	lines->wider = false;
	out_row(lines->fields, &r);
}
