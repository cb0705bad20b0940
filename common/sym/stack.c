/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "base/escape.h"
#include "sym/frames.h"
#include "sym/stack.h"

bool stack_view(const struct stack *s, int i, struct frame_view *view)
{
	s = stack_shown(s);
	if (!s || i >= s->n)
		return false;
	frame_view(&s->frames[i], view);
	return true;
}

/* ": FILE", or where the file is unknown " at 0x…", of a note. */
static void print_about(const struct frame_view *v)
{
	if (v->file) {
		fputs(": ", stdout);
		escape_text(stdout, v->file);
	} else if (v->off) {
		printf(" at 0x%llx", v->off);
	}
}

static void text_note(const struct frame_view *v)
{
	putchar('[');
	escape_text(stdout, v->name);
	print_about(v);
	putchar(']');
}

/* As Python and compilers write it, so that terminals and editors find the place. */
static void text_python(const struct frame_view *v)
{
	escape_text(stdout, v->file ? v->file : "[unknown]");
	if (v->line)
		printf(":%d", v->line);
	putchar(' ');
	escape_text(stdout, v->name ? v->name : "[unknown]");
}

static void text_native(const struct frame_view *v)
{
	if (v->name) {
		escape_text(stdout, v->name);
		printf("+0x%llx", v->off);
	} else {
		printf(v->file ? "[no symbol] +0x%llx" : "[unknown] 0x%llx", v->off);
	}
	if (!v->file)
		return;
	fputs(" (", stdout);
	escape_text(stdout, v->file);
	putchar(')');
}

void stack_text(const struct stack *s)
{
	struct frame_view v;

	if (!s)
		puts("        [no stack]");
	s = stack_shown(s);
	for (int i = 0; s && i < s->n; i++) {
		frame_view(&s->frames[i], &v);
		fputs("        ", stdout);
		if (v.kind == FRAME_KIND_NATIVE)
			text_native(&v);
		else if (v.kind == FRAME_KIND_PYTHON)
			text_python(&v);
		else
			text_note(&v);
		putchar('\n');
	}
}

static void json_string(const char *key, const char *s)
{
	printf(",\"%s\":", key);
	if (s)
		escape_json(stdout, s);
	else
		fputs("null", stdout);
}

static void json_frame(const struct frame_view *v)
{
	static const char *const kinds[] = { "native", "python", "note" };

	printf("{\"kind\":\"%s\"", kinds[v->kind]);
	json_string("sym", v->name);
	if (v->kind == FRAME_KIND_NATIVE || v->off)
		printf(",\"off\":\"0x%llx\"", v->off);
	else
		fputs(",\"off\":null", stdout);
	json_string("file", v->file);
	if (v->line)
		printf(",\"line\":%d}", v->line);
	else
		fputs(",\"line\":null}", stdout);
}

void stack_json(const struct stack *s)
{
	struct frame_view v;

	putchar('[');
	s = stack_shown(s);
	for (int i = 0; s && i < s->n; i++) {
		frame_view(&s->frames[i], &v);
		if (i)
			putchar(',');
		json_frame(&v);
	}
	putchar(']');
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
 * file, as Python's functions have short names. */
static void folded_frame(const struct frame_view *v)
{
	const char *file = v->kind == FRAME_KIND_NATIVE ? NULL : v->file;
	bool is_note = v->kind == FRAME_KIND_NOTE;

	if (is_note)
		putchar('[');
	stack_folded_name(v->name ? v->name : "[unknown]");
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
		frame_view(&s->frames[i], &v);
		folded_frame(&v);
		if (i)
			putchar(';');
	}
}
