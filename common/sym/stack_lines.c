/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "base/escape.h"
#include "sym/frames.h"
#include "sym/module.h"
#include "sym/stack_lines.h"
#include "sym/syms.h"

/* A return address is just after the call. */
struct frame_lines frame_lines(const struct stack *s, const struct stack_frame *f)
{
	struct lines *lines = syms_lines(s->syms);
	struct frame_lines l = { .wanted = lines };

	if (!lines || f->kind != FRAME_KIND_NATIVE || !f->what)
		return l;
	l.n = lines_at(lines, frame_module(f), f->at - 1, &l.inlined);
	if (l.n)		/* the last one is the function itself */
		l.own = &l.inlined[--l.n];
	return l;
}

const char *inlined_name(const struct frame_lines *l, int i, const struct stack_frame *f)
{
	const char *name = l->inlined[i].function;

	return name ? demangle(&frame_module(f)->modules->demangler, name) : "?";
}

void source_text(const struct source_line *line)
{
	const char *slash;

	if (!line || !line->file || !line->line)
		return;
	slash = strrchr(line->file, '/');
	fputs(" at ", stdout);
	escape_text(stdout, slash ? slash + 1 : line->file);
	printf(":%d", line->line);
}

void source_json(const struct source_line *line)
{
	if (!line || !line->file || !line->line) {
		fputs(",\"source\":null,\"line\":null", stdout);
		return;
	}
	fputs(",\"source\":", stdout);
	escape_json(stdout, line->file);
	printf(",\"line\":%d", line->line);
}

void inlined_text(const struct frame_lines *l, const struct stack_frame *f)
{
	for (int i = 0; i < l->n; i++) {
		fputs("        ", stdout);
		escape_text(stdout, inlined_name(l, i, f));
		fputs(" (inlined) (", stdout);
		escape_text(stdout, frame_module(f)->path);
		putchar(')');
		source_text(&l->inlined[i]);
		putchar('\n');
	}
}

void inlined_json(const struct frame_lines *l, const struct stack_frame *f)
{
	for (int i = 0; i < l->n; i++) {
		fputs("{\"sym\":", stdout);
		escape_json(stdout, inlined_name(l, i, f));
		fputs(",\"off\":null,\"file\":", stdout);
		escape_json(stdout, frame_module(f)->path);
		fputs(",\"inlined\":true", stdout);
		source_json(&l->inlined[i]);
		fputs("},", stdout);
	}
}
