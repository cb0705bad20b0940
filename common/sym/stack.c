/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "base/escape.h"
#include "sym/frames.h"
#include "sym/stack.h"
#include "sym/stack_lines.h"

bool stack_view(const struct stack *s, int i, struct frame_view *view)
{
	s = stack_shown(s);
	if (!s || i >= s->n)
		return false;
	frame_view(&s->frames[i], view);
	return true;
}

const struct stack *stack_from(const struct stack *s, int i)
{
	s = stack_shown(s);
	return stack_of(s->syms, s->frames + i, s->n - i);
}

/* ": FILE", or where the file is unknown " at 0x…", of a note. */
static void print_about(FILE *f, const struct frame_view *v)
{
	if (v->file) {
		fputs(": ", f);
		escape_text(f, v->file);
	} else if (v->off) {
		fprintf(f, " at 0x%llx", v->off);
	}
}

static void text_note(FILE *f, const struct frame_view *v)
{
	putc('[', f);
	escape_text(f, v->name);
	print_about(f, v);
	putc(']', f);
}

/* As Python and compilers write it, so that terminals and editors find the place. */
static void text_python(FILE *f, const struct frame_view *v)
{
	escape_text(f, v->file ? v->file : "[unknown]");
	if (v->line)
		fprintf(f, ":%d", v->line);
	putc(' ', f);
	escape_text(f, v->name ? v->name : "[unknown]");
}

/* Without the directory, which may be long. */
static void print_source(FILE *f, const struct frame_view *v)
{
	const char *slash;

	if (!v->source)
		return;
	slash = strrchr(v->source, '/');
	fputs(" at ", f);
	escape_text(f, slash ? slash + 1 : v->source);
	fprintf(f, ":%d", v->line);
}

static void text_native(FILE *f, const struct frame_view *v)
{
	if (v->inlined) {
		escape_text(f, v->name);
		fputs(" (inlined)", f);
	} else if (v->name) {
		escape_text(f, v->name);
		fprintf(f, "+0x%llx", v->off);
	} else {
		fprintf(f, v->file ? "[no symbol] +0x%llx" : "[unknown] 0x%llx", v->off);
	}
	if (v->kind == FRAME_KIND_JIT)
		fputs(" [jit]", f);
	if (!v->file)
		return;
	fputs(" (", f);
	escape_text(f, v->file);
	putc(')', f);
	print_source(f, v);
}

static void text_frame(FILE *f, const struct frame_view *v)
{
	if (v->kind == FRAME_KIND_NATIVE || v->kind == FRAME_KIND_JIT)
		text_native(f, v);
	else if (v->kind == FRAME_KIND_PYTHON)
		text_python(f, v);
	else
		text_note(f, v);
}

void stack_text(const struct stack *s)
{
	struct frame_view v;

	if (!s)
		puts("        [no stack]");
	s = stack_shown(s);
	for (int i = 0; s && i < s->n; i++) {
		struct frame_lines lines = frame_lines(s, &s->frames[i]);

		for (int k = 0; k <= lines.n; k++) {
			frame_lines_view(&lines, k, &s->frames[i], &v);
			fputs("        ", stdout);
			text_frame(stdout, &v);
			putchar('\n');
		}
	}
}

/* The line of text as one JSON string. */
static void text_json(FILE *file, const struct frame_view *v, bool lines)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	(void)lines;
	if (!f)
		die(ENOMEM, "a stack frame");
	text_frame(f, v);
	if (fclose(f))
		die(ENOMEM, "a stack frame");
	escape_json(file, text);
	free(text);
}

void stack_json(FILE *f, const struct stack *s,
		void (*frame)(FILE *f, const struct frame_view *v, bool lines))
{
	struct frame_view v;

	putc('[', f);
	s = stack_shown(s);
	for (int i = 0; s && i < s->n; i++) {
		struct frame_lines lines = frame_lines(s, &s->frames[i]);

		for (int k = 0; k <= lines.n; k++) {
			frame_lines_view(&lines, k, &s->frames[i], &v);
			if (i || k)
				putc(',', f);
			frame(f, &v, lines.wanted);
		}
	}
	putc(']', f);
}

void stack_text_json(FILE *file, const struct stack *s)
{
	stack_json(file, s, text_json);
}

/* ';' separates frames, and a newline stacks. */
void stack_folded_name(const char *s)
{
	char *name = xstrdup(s);

	for (char *at = name; (at = strchr(at, ';')); )
		*at = ':';
	escape_text(stdout, name);
	free(name);
}

/* Without lines and offsets, so that calls from different places of a function are one frame; with the
 * file, as Python's functions have short names.  "_[i]": as FlameGraph's stackcollapse-perf.pl marks
 * inlined functions. */
static void folded_frame(const struct frame_view *v)
{
	bool has_file = v->kind == FRAME_KIND_PYTHON || v->kind == FRAME_KIND_NOTE;
	const char *file = has_file ? v->file : NULL;
	bool is_note = v->kind == FRAME_KIND_NOTE;

	if (is_note)
		putchar('[');
	stack_folded_name(v->name ? v->name : "[unknown]");
	if (v->inlined)
		fputs("_[i]", stdout);
	if (file) {
		fputs(is_note ? ": " : " (", stdout);
		stack_folded_name(file);
	}
	if (is_note)
		putchar(']');
	else if (file)
		putchar(')');
}

void stack_folded(const struct stack *s)
{
	struct frame_view v;

	if (!s)
		fputs("[no stack]", stdout);
	s = stack_shown(s);
	for (int i = s ? s->n - 1 : -1; i >= 0; i--) {
		struct frame_lines lines = frame_lines(s, &s->frames[i]);

		for (int k = lines.n; k >= 0; k--) {
			frame_lines_view(&lines, k, &s->frames[i], &v);
			folded_frame(&v);
			if (i || k)
				putchar(';');
		}
	}
}
