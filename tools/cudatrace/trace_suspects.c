/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/escape.h"
#include "cli/row.h"
#include "cudatrace/trace_call.h"
#include "cudatrace/trace_suspects.h"
#include "sym/stack.h"
#include "view/stack_view.h"

enum { NAMED = 8 };	/* kernels named in text */

static unsigned long long launches(const struct sticky_error *c)
{
	unsigned long long n = c->others;

	for (int i = 0; i < c->n; i++)
		n += c->launched[i].count;
	return n;
}

/* Many brief names would hide the rest of the line. */
static void launched_text(FILE *f, const struct sticky_launch *l, enum kernel_style style)
{
	if (l->kernel)
		escape_text(f, kernel_called(l->kernel, style == KERNEL_BRIEF ? KERNEL_SHORT : style));
	else
		fprintf(f, "0x%llx", l->func);
	if (l->count > 1)
		fprintf(f, " x%llu", l->count);
}

void trace_sticky_text(FILE *f, const struct sticky_error *c, enum kernel_style style)
{
	unsigned long long n = launches(c);

	if (c->again) {
		fputs(" [caused by earlier work: already reported]", f);
		return;
	}
	fputs(" [caused by earlier work", f);
	if (n)
		fprintf(f, ": %llu launch%s since the last wait: ", n, n == 1 ? "" : "es");
	for (int i = 0; i < c->n && i < NAMED; i++) {
		const struct sticky_launch *l = &c->launched[i];

		if (i)
			fputs(", ", f);
		launched_text(f, l, style);
	}
	fputs(c->n > NAMED || c->others ? ", ...]" : "]", f);
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
		if (l->kernel)
			escape_json(f, l->kernel->brief);
		else
			fprintf(f, "\"0x%llx\"", l->func);
	}
	putc(']', f);
}

void trace_launched_text(FILE *f, const struct sticky_error *c, enum kernel_style style)
{
	for (int i = 0; i < c->n; i++) {
		fputs("        launched ", f);
		launched_text(f, &c->launched[i], style);
		fputs(":\n", f);
		stack_lines(f, c->launched[i].stack, "            ");
	}
}

#define AT(f) offsetof(struct launched_row, f)
struct launched_row {
	const char *kernel, *short_name;
	unsigned long long func, stream, count;
	const struct stack *stack;
};

static const struct field launched_fields[] = {
	{ "kernel", NULL, 0, OUT_STR, AT(kernel) },	/* name; null if unknown */
	{ "short", NULL, 0, OUT_STR, AT(short_name) },	/* its short name */
	{ "handle", NULL, 0, OUT_PTR, AT(func) },	/* as passed to the launch */
	{ "stream", NULL, 0, OUT_PTR, AT(stream) },	/* of the launches; 0x0: the default stream */
	{ "launches", NULL, 0, OUT_UINT, AT(count) },	/* launches of it by this stack */
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },	/* of the launches: the caller first */
	{ 0 }
};

void trace_launched_json(FILE *f, const void *of)
{
	const struct trace_call *call = of;

	if (!call->cause) {
		fputs("null", f);
		return;
	}
	putc('[', f);
	for (int i = 0; i < call->cause->n; i++) {
		const struct sticky_launch *l = &call->cause->launched[i];

		if (i)
			putc(',', f);
		out_object(launched_fields, &(struct launched_row){
			l->kernel ? l->kernel->brief : NULL, l->kernel ? l->kernel->short_name : NULL, l->func, l->stream, l->count, l->stack });
	}
	putc(']', f);
}
