/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/escape.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cudatrace/trace_call.h"
#include "cudatrace/trace_suspects.h"
#include "inflight/inflight.h"
#include "sym/stack.h"
#include "view/columns.h"
#include "view/stack_view.h"

enum { NAMED = 8 };	/* kernels named in text */

static unsigned long long work(const struct sticky_error *c, bool copies)
{
	unsigned long long n = copies ? 0 : c->others;

	for (int i = 0; i < c->n; i++)
		n += !c->launched[i].copy == !copies ? c->launched[i].count : 0;
	return n;
}

/* Many brief names would hide the rest of the line. */
static void launched_text(FILE *f, const struct sticky_launch *l, enum kernel_style style)
{
	if (l->copy)
		fputs(l->copy, f);
	else if (l->kernel)
		escape_text(f, kernel_called(l->kernel, style == KERNEL_BRIEF ? KERNEL_SHORT : style));
	else
		fprintf(f, "0x%llx", l->func);
	if (l->count > 1)
		fprintf(f, " x%llu", l->count);
}

/* "3 launches and 1 copy since the last wait: scale x2, embed, cudaMemcpyAsync" */
static void work_text(FILE *f, const struct sticky_error *c, enum kernel_style style)
{
	const unsigned long long launches = work(c, false), copies = work(c, true);

	if (launches)
		fprintf(f, "%llu launch%s", launches, launches == 1 ? "" : "es");
	if (copies)
		fprintf(f, "%s%llu %s", launches ? " and " : "", copies, copies == 1 ? "copy" : "copies");
	fputs(" since the last wait: ", f);
	for (int i = 0; i < c->n && i < NAMED; i++) {
		if (i)
			fputs(", ", f);
		launched_text(f, &c->launched[i], style);
	}
	if (c->n > NAMED || c->others)
		fputs(", ...", f);
}

void trace_sticky_text(FILE *f, const struct sticky_error *c, enum kernel_style style)
{
	if (c->again) {
		fputs(" [caused by earlier work: already reported]", f);
		return;
	}
	fputs(" [caused by earlier work", f);
	if (c->n || c->others) {
		fputs(": ", f);
		work_text(f, c, style);
	}
	putc(']', f);
}

void trace_sticky_json(FILE *f, const struct sticky_error *c)
{
	if (!c) {
		fputs("null", f);
		return;
	}
	putc('[', f);
	for (int i = 0; i < c->n; i++) {
		const struct sticky_launch *l = &c->launched[i];

		if (i)
			putc(',', f);
		if (l->copy || l->kernel)
			escape_json(f, l->copy ?: l->kernel->brief);
		else
			fprintf(f, "\"0x%llx\"", l->func);
	}
	putc(']', f);
}

void trace_launched_text(FILE *f, const struct sticky_error *c, enum kernel_style style)
{
	for (int i = 0; i < c->n; i++) {
		if (!c->launched[i].stack)
			continue;
		fprintf(f, "        %s ", c->launched[i].copy ? "copied by" : "launched");
		launched_text(f, &c->launched[i], style);
		fputs(":\n", f);
		stack_lines(f, c->launched[i].stack, "            ");
	}
}

#define AT(f) offsetof(struct launched_row, f)
struct launched_row {
	const char *kernel, *short_name, *copy;
	unsigned long long func, stream, count;
	const struct stack *stack;
};

static const struct field launched_fields[] = {
	{ "kernel", NULL, 0, OUT_STR, AT(kernel) },	/* name; null if unknown */
	{ "short", NULL, 0, OUT_STR, AT(short_name) },	/* its short name */
	{ "copy", NULL, 0, OUT_STR, AT(copy) },	/* the function, if these are copies; otherwise null */
	{ "handle", NULL, 0, OUT_PTR, AT(func) },	/* as passed to the launch */
	{ "stream", NULL, 0, OUT_PTR, AT(stream) },	/* of the calls; 0x0: the default stream */
	{ "count", NULL, 0, OUT_UINT, AT(count) },	/* launches of it, or copies, by this stack */
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },	/* of the launches: the caller first */
	{ 0 }
};

static void launched_json(FILE *f, const struct sticky_error *c)
{
	putc('[', f);
	for (int i = 0; i < c->n; i++) {
		const struct sticky_launch *l = &c->launched[i];

		if (i)
			putc(',', f);
		out_object(launched_fields, &(struct launched_row){
			l->kernel ? l->kernel->brief : NULL, l->kernel ? l->kernel->short_name : NULL, l->copy, l->func, l->stream,
			l->count, l->stack });
	}
	putc(']', f);
}

void trace_launched_json(FILE *f, const void *of)
{
	const struct trace_call *call = of;

	if (call->cause)
		launched_json(f, call->cause);
	else
		fputs("null", f);
}
#undef AT

struct outstanding_row {
	unsigned long long time, launches, copies;
	int pid;
	const char *comm;
	struct out_print launched;
};

static void outstanding_json(FILE *f, const void *of)
{
	launched_json(f, of);
}

OUT_WORD(outstanding_type, "outstanding");

#define AT(f) offsetof(struct outstanding_row, f)
static const struct field outstanding_fields[] = {
	{ "type", NULL, 0, &outstanding_type, 0 },	/* work of a process that is in a call that has not returned */
	{ "time", NULL, 0, OUT_TIME, AT(time) },	/* of the report */
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },	/* of a thread in a call */
	{ "launches", NULL, 0, OUT_UINT, AT(launches) },	/* since the last wait for them */
	{ "copies", NULL, 0, OUT_UINT, AT(copies) },	/* the same of asynchronous copies */
	{ "launched", NULL, 0, OUT_PRINT, AT(launched) },	/* array of launched: both */
	{ 0 }
};

void trace_outstanding(const struct inflight_row *row, const struct sticky_error *c, enum kernel_style style)
{
	if (out_is_json()) {
		out_row(outstanding_fields, &(struct outstanding_row){
			row->time, work(c, false), work(c, true), row->pid, row->comm, { outstanding_json, c } });
		return;
	}
	fputs("outstanding in ", stdout);
	process_text(row->pid, row->comm, row->container);
	fputs(": ", stdout);
	work_text(stdout, c, style);
	putchar('\n');
	trace_launched_text(stdout, c, style);
}
