/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/escape.h"
#include "base/hash.h"
#include "cli/out.h"
#include "cudatrace/trace_args.h"
#include "cudatrace/trace_call.h"
#include "cudatrace/trace_line.h"
#include "cudatrace/trace_suspects.h"
#include "proc/process_table.h"
#include "sym/stack.h"
#include "view/columns.h"
#include "view/stack_view.h"

static bool has_colors(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return out_is_terminal() && !(no && *no) && term && strcmp(term, "dumb");
}

bool color_wanted(enum color_when when)
{
	return !out_is_json() && when != COLOR_NEVER && (when == COLOR_ALWAYS || has_colors());
}

/* ECMA-48, SGR: every terminal with colors has these. */
#define COLOR_NAME "\33[1m"
#define COLOR_ERROR "\33[31m"
#define COLOR_END "\33[m"

static void color(FILE *f, bool wanted, const char *code)
{
	if (wanted)
		fputs(code, f);
}

struct shown {
	const struct trace_call *call;
	const struct trace_lines *lines;
};

struct line_row {
	unsigned long long time, since, latency, count, span;
	int pid, tid, depth;
	bool captured, first;
	unsigned int device;
	const char *comm, *container, *layer, *func, *at, *kernel, *short_name, *error, *next;
	struct out_print call, args, ret, cause, launched;
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

/* The part of the line that strace would print. */
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
	color(f, lines->color, COLOR_NAME);
	fputs(call->proto->name, f);
	color(f, lines->color, COLOR_END);
	putc('(', f);
	trace_args(f, false, call);
	putc(')', f);
	if (what == TRACE_ENTER)
		return;
	if (what == TRACE_UNFINISHED || call->proto->result.kind != CUDA_KIND_NONE) {
		fputs(" = ", f);
		color(f, lines->color && call->failed, COLOR_ERROR);
		trace_result(f, false, call);
		color(f, lines->color && call->failed, COLOR_END);
	}
	if (what == TRACE_UNFINISHED)
		fputs(" (thread exited during the call)", f);
	if (lines->durations)
		fprintf(f, " <%.6f>", trace_duration(call) / 1e9);
	if (call->event->captured)
		fputs(" [captured]", f);
	if (call->first)
		fputs(call->late ? " [first launch seen]" : " [first launch]", f);
	if (call->cause)
		trace_sticky_text(f, call->cause, call->names);
	if (call->next)
		fprintf(f, " [error not checked; next call: %s]", call->next);
	if (call->count > 1)
		fprintf(f, " [%llu times in %s]", call->count, out_ns(call->span));
}

OUT_WORD(row_type, "call");

#define AT(f) offsetof(struct line_row, f)
enum { TIME = 1, SINCE = 2, WHERE = 10, DEPTH = 11, NEXT = 20, COUNT, SPAN, LAUNCHED = 24, STACK };
static const struct field all[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* a call, or with --enter an entry */
	[TIME] = { "time", "TIME", -12, OUT_TIME, AT(time) },	/* of the return or entry */
	[SINCE] = { "since_ns", "SINCE(us)", 12, OUT_US, AT(since) },	/* with --relative: since the last object; first: 0 */
	{ "pid", NULL, -7, OUT_INT, AT(pid) },
	{ "tid", NULL, -7, OUT_INT, AT(tid) },
	{ "comm", NULL, -15, OUT_STR, AT(comm) },
	{ "container", NULL, -12, OUT_STR, AT(container) },
	{ "device", NULL, 6, OUT_DEVICE, AT(device) },	/* null if unknown, or with --enter-only or --unchecked */
	{ "layer", NULL, -7, OUT_STR, AT(layer) },	/* runtime, driver, nccl or nvrtc */
	{ "func", NULL, 0, OUT_STR, AT(func) },	/* as exported */
	[WHERE] = { "at", NULL, 0, OUT_STR, AT(at) },	/* with --enter: enter or return */
	[DEPTH] = { "depth", NULL, 0, OUT_INT, AT(depth) },	/* with --tree: calls around it */
	{ "args", NULL, 0, OUT_PRINT, AT(args) },	/* object: by name, stored values as *NAME: see cudatrace(8) */
	{ "kernel", NULL, 0, OUT_STR, AT(kernel) },	/* name of the launched kernel */
	{ "short", NULL, 0, OUT_STR, AT(short_name) },	/* its short name, for reading */
	{ "captured", NULL, 0, OUT_BOOL, AT(captured) },	/* the call is part of a CUDA graph, and did not run */
	{ "first", NULL, 0, OUT_BOOL, AT(first) },	/* the first launch of that kernel by the process that was seen: it may load code */
	{ "latency_ns", NULL, 0, OUT_UINT, AT(latency) },	/* ns: of the call; null at its entry */
	{ "ret", NULL, 0, OUT_PRINT, AT(ret) },	/* any: result; 0: success; null if unknown */
	{ "error", NULL, 0, OUT_STR, AT(error) },	/* name of the error; null if none */
	[NEXT] = { "next", NULL, 0, OUT_STR, AT(next) },	/* with --unchecked: next function of the thread */
	[COUNT] = { "count", NULL, 0, OUT_UINT, AT(count) },	/* with --failed or --unchecked: how many such failures the object stands for: the last of them */
	[SPAN] = { "count_ns", NULL, 0, OUT_UINT, AT(span) },	/* with --failed or --unchecked: ns: since when there were so many; null if count is 1 */
	{ "earlier", NULL, 0, OUT_PRINT, AT(cause) },	/* array of string: suspect kernels, and functions of copies, of a sticky error */
	[LAUNCHED] = { "launched", NULL, 0, OUT_PRINT, AT(launched) },	/* with --stacks: array of launched: the same with the stacks of their launches */
	[STACK] = { "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ NULL, "CALL", -1, OUT_PRINT, AT(call) },
	{ 0 }
};
_Static_assert(sizeof(all) == sizeof(((struct trace_lines *)0)->fields), "room for each field");

/* A heading with only CALL is useless. */
static void print_head(const struct field *fields)
{
	int columns = 0;

	for (const struct field *f = fields; f->type; f++)
		columns += !!f->head;
	if (columns > 1)
		out_head(fields);
}

static bool show_processes(struct field *fields)
{
	return columns_show(fields, "pid", "PID") | columns_show(fields, "comm", "COMM");
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
	if (!lines->failed)
		fields[COUNT].key = fields[SPAN].key = NULL;
	if (!lines->stacks)
		fields[STACK].type = OUT_BOOL, fields[STACK].key = fields[LAUNCHED].key = NULL;
	if (several || lines->failed)
		show_processes(fields);
	if (lines->failed)
		columns_show(fields, "tid", "TID");
	if (lines->seen.several)
		columns_show(fields, "device", "DEVICE");
	if (lines->nested)	/* else the function's name shows the layer well enough */
		columns_show(fields, "layer", "LAYER");
	print_head(fields);
}

void trace_lines_see(struct trace_lines *lines, unsigned int device)
{
	devices_see(&lines->seen, device);
	if (lines->seen.several)
		lines->wider |= columns_show(lines->fields, "device", "DEVICE");
}

/* A process's first thread has its number. */
static bool is_other_thread(const struct trace_lines *lines, int pid, int tid)
{
	return pid == lines->pid ? tid != lines->tid : tid != pid || lines->tid != lines->pid;
}

/* Adds columns that distinguish the call from the lines before. */
static void add_columns(struct trace_lines *lines, const struct trace_call *call)
{
	int pid = call->event->head.pid, tid = call->event->tid;

	if (lines->pid && pid != lines->pid)
		lines->wider |= show_processes(lines->fields);
	if (lines->pid && is_other_thread(lines, pid, tid))
		lines->wider |= columns_show(lines->fields, "tid", "TID");
	if (*call->container)
		lines->wider |= columns_show(lines->fields, "container", "CONTAINER");
	lines->pid = pid;
	lines->tid = tid;
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
		.kernel = call->kernel ? call->kernel->brief : NULL,
		.short_name = call->kernel ? call->kernel->short_name : NULL, .captured = e->captured, .first = call->first,
		.error = trace_error(call), .next = call->next, .count = call->count ?: 1,
		.span = call->count > 1 ? call->span : OUT_NONE,
		.call = { print_call, &shown }, .args = { print_args, call }, .ret = { print_ret, call },
		.cause = { print_cause, call }, .launched = { trace_launched_json, call }, .stack = call->stack,
	};

	if (!r.stack && !whole && !out_is_json())
		r.stack = stack_missing(NULL, NO_STACK_RETURN);

	/* a call that is printed late, as with --tree, may have returned before */
	r.since = *lines->previous && r.time > *lines->previous ? r.time - *lines->previous : 0;
	*lines->previous = r.time;
	add_columns(lines, call);
	if (lines->wider)
		print_head(lines->fields);
	lines->wider = false;
	out_row(lines->fields, &r);
	if (lines->stacks && call->cause && !out_is_json())
		trace_launched_text(stdout, call->cause, call->names);
}

/* The calls of a thread. */
struct trace_tree {
	int tid, pid;
	unsigned user;
	struct trace_call **calls;
	int n, room;
	size_t cost;		/* bytes of the quota */
	UT_hash_handle hh;
};

struct trace_trees trace_trees_init(struct trace_lines *lines, struct process_table *processes)
{
	return (struct trace_trees){
		.lines = lines, .processes = processes,
		.quota = {
			.limit = 24 << 20, .what = "calls inside calls",
			.loss = "calls with very many calls inside are printed in pieces",
		},
	};
}

static int by_entry(const void *a, const void *b)
{
	const struct trace_event *p = (*(struct trace_call *const *)a)->event;
	const struct trace_event *q = (*(struct trace_call *const *)b)->event;

	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	return p->depth - q->depth;
}

static void print_tree(struct trace_trees *trees, struct trace_tree *t)
{
	if (t->n)
		qsort(t->calls, t->n, sizeof(*t->calls), by_entry);
	for (int i = 0; i < t->n; i++) {
		trace_line(trees->lines, t->calls[i]);
		trace_call_drop(t->calls[i]);
	}
	HASH_DEL(trees->by_tid, t);
	quota_give(&trees->quota, t->user, t->cost);
	free(t->calls);
	free(t);
}

static struct trace_tree *tree_of(struct trace_trees *trees, const struct trace_event *e)
{
	struct trace_tree *t = xcalloc(1, sizeof(*t));

	t->tid = e->tid;
	t->pid = e->head.pid;
	t->user = process_user(trees->processes, t->pid);
	HASH_ADD_INT(trees->by_tid, tid, t);
	return t;
}

/* Returns false if there are too many. */
static bool keep(struct trace_trees *trees, struct trace_tree *t, const struct trace_call *call)
{
	/* with its pointer in an array that doubles, and a part of the tree */
	size_t cost = trace_call_cost(call) + 2 * sizeof(call) + (t->n ? 0 : 2 * sizeof(*t));

	if (!quota_take(&trees->quota, t->user, t->pid, cost))
		return false;
	t->cost += cost;
	ALLOC_GROW(t->calls, t->n, t->room);
	t->calls[t->n++] = trace_call_keep(call);
	return true;
}

void trace_tree_call(struct trace_trees *trees, const struct trace_call *call)
{
	int tid = call->event->tid;
	struct trace_tree *t;

	HASH_FIND_INT(trees->by_tid, &tid, t);
	if (!t && !call->event->depth) {
		trace_line(trees->lines, call);
		return;
	}
	if (!t)
		t = tree_of(trees, call->event);
	if (!keep(trees, t, call)) {
		print_tree(trees, t);
		trace_line(trees->lines, call);
	} else if (!call->event->depth) {
		print_tree(trees, t);
	}
}

void trace_tree_end(struct trace_trees *trees, int pid)
{
	struct trace_tree *t, *next;

	HASH_ITER(hh, trees->by_tid, t, next)
		if (pid < 0 || t->pid == pid)
			print_tree(trees, t);
	if (pid < 0)
		quota_free(&trees->quota);
}
