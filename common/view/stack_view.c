/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/escape.h"
#include "cli/out.h"
#include "cli/row.h"
#include "model/stack_sums.h"
#include "sym/stack.h"
#include "view/stack_view.h"

/* Call stacks as flamegraph.pl reads them: a line each. */

void folded_line(const char *comm, const struct stack *stack, const char *leaf, unsigned long long value)
{
	stack_folded_name(comm);
	putchar(';');
	stack_folded(stack);
	putchar(';');
	stack_folded_name(leaf);
	printf(" %llu\n", value);
	out_line_end();
}

void folded_sums(const struct stack_sums *sums)
{
	const struct stack_sum **list;
	size_t n;

	list = stack_sums_sorted(sums, &n);
	for (size_t i = 0; i < n; i++)
		folded_line(list[i]->key.comm, list[i]->key.stack, list[i]->key.function, list[i]->sum);
	free(list);
}

static const struct stack *stack_at(const void *at)
{
	return *(const struct stack *const *)at;
}

static void text_below(const void *at)
{
	stack_text(stack_at(at));
}

struct frame_row {
	const char *kind, *sym, *file, *source;
	unsigned long long off, line;
	bool inlined;
};

#define AT(f) offsetof(struct frame_row, f)
enum { SOURCE = 5 };
static const struct field frame_fields[] = {	/* for JSON */
	{ "kind", NULL, 0, OUT_STR, AT(kind) },	/* native, jit, python or note: why frames are missing */
	{ "sym", NULL, 0, OUT_STR, AT(sym) },	/* the demangled function, or the text of a note */
	{ "off", NULL, 0, OUT_PTR, AT(off) },	/* in the function, else in file, else address; of a note: its address */
	{ "file", NULL, 0, OUT_STR, AT(file) },	/* mapped, or of Python: source; of a note: its subject */
	{ "line", NULL, 0, OUT_UINT, AT(line) },	/* of the source; of native frames with --lines */
	[SOURCE] = { "source", NULL, 0, OUT_STR, AT(source) },	/* with --lines: source file, as given to the compiler */
	{ "inlined", NULL, 0, OUT_BOOL, AT(inlined) },	/* with --lines: inlined into the next frame; off is null */
	{ 0 }
};

static void frame_json(FILE *f, const struct frame_view *v, bool lines)
{
	static const char *const kinds[] = { "native", "python", "note", "jit" };
	bool is_code = v->kind == FRAME_KIND_NATIVE || v->kind == FRAME_KIND_JIT;
	struct field fields[sizeof(frame_fields) / sizeof(*frame_fields)];

	(void)f;
	memcpy(fields, frame_fields, sizeof(fields));
	if (!lines)
		fields[SOURCE] = (struct field){ 0 };
	out_object(fields, &(struct frame_row){
		.kind = kinds[v->kind], .sym = v->name, .file = v->file, .source = v->source, .inlined = v->inlined,
		.off = (is_code && !v->inlined) || v->off ? v->off : OUT_NONE,
		.line = v->line ? (unsigned)v->line : OUT_NONE,
	});
}

static void stack_view_json(const void *at)
{
	if (stack_at(at))
		stack_json(stdout, stack_at(at), frame_json);
	else			/* it was not taken */
		fputs("null", stdout);
}

const struct field_type field_stack = { NULL, text_below, stack_view_json };

void stack_view_callers(FILE *file, const struct stack *stack)
{
	struct frame_view v;

	for (int i = 0; i < 8 && stack_view(stack, i, &v); i++) {
		fputs(v.kind == FRAME_KIND_NOTE ? " < [" : " < ", file);
		escape_text(file, v.name ? v.name : "?");
		if (v.kind == FRAME_KIND_NOTE)
			putc(']', file);
	}
}
