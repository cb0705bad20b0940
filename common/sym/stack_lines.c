/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
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

static void view_inlined(const struct source_line *line, struct module *m, struct frame_view *v)
{
	const char *name = line->function;

	*v = (struct frame_view){ .kind = FRAME_KIND_NATIVE, .file = m->path, .inlined = true };
	v->name = name ? demangle(&m->modules->demangler, name) : "?";
}

void frame_lines_view(const struct frame_lines *l, int i, const struct stack_frame *f, struct frame_view *v)
{
	const struct source_line *line = i < l->n ? &l->inlined[i] : l->own;

	if (i < l->n)
		view_inlined(line, frame_module(f), v);
	else
		frame_view(f, v);
	if (!line || !line->file || !line->line)
		return;
	v->source = line->file;
	v->line = line->line;
}
