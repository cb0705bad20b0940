/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "base/escape.h"
#include "sym/module.h"
#include "sym/frames.h"
#include "sym/stack.h"
#include "sym/stack_lines.h"

/* A return address is just after the call, which may already be in the next function. */
static const char *name_of(const struct stack_frame *f, unsigned long long *off)
{
	const char *symbol;

	if (f->kind == FRAME_KIND_JIT) {
		*off = f->at;
		return f->what;
	}
	if (!frame_module(f))
		return NULL;
	symbol = module_symbol(frame_module(f), f->at - 1, off);
	++*off;
	return symbol ? demangle(&frame_module(f)->modules->demangler, symbol) : NULL;
}

bool stack_frame(const struct stack *s, int i, const char **name)
{
	unsigned long long off = 0;

	if (!s || i >= s->n)
		return false;
	*name = name_of(&s->frames[i], &off);
	return true;
}

static void print_text(const char *sym, unsigned long long off, const struct stack_frame *f)
{
	fputs("        ", stdout);
	if (sym) {
		escape_text(stdout, sym);
		printf("+0x%llx", off);
	} else {
		printf(frame_module(f) ? "[no symbol] +0x%llx" : "[unknown] 0x%llx", f->at);
	}
	if (frame_module(f)) {
		fputs(" (", stdout);
		escape_text(stdout, frame_module(f)->path);
		putchar(')');
	}
	if (f->kind == FRAME_KIND_JIT)
		fputs(" [jit]", stdout);
}

void stack_text(const struct stack *s)
{
	if (!s)
		puts("        [no stack]");
	for (int i = 0; s && i < s->n; i++) {
		struct frame_lines lines = frame_lines(s, &s->frames[i]);
		unsigned long long off = 0;
		const char *sym;

		inlined_text(&lines, &s->frames[i]);
		sym = name_of(&s->frames[i], &off);
		print_text(sym, off, &s->frames[i]);
		source_text(lines.own);
		putchar('\n');
	}
}

void stack_json(const struct stack *s)
{
	putchar('[');
	for (int i = 0; s && i < s->n; i++) {
		const struct stack_frame *f = &s->frames[i];
		struct frame_lines lines = frame_lines(s, f);
		unsigned long long off = 0;
		const char *sym;

		if (i)
			putchar(',');
		inlined_json(&lines, f);
		sym = name_of(f, &off);
		fputs("{\"sym\":", stdout);
		if (sym)
			escape_json(stdout, sym);
		else
			fputs("null", stdout);
		printf(",\"off\":\"0x%llx\",\"file\":", sym ? off : f->at);
		if (frame_module(f))
			escape_json(stdout, frame_module(f)->path);
		else
			fputs("null", stdout);
		if (lines.wanted)
			source_json(lines.own);
		putchar('}');
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

/* "_[i]": as FlameGraph's stackcollapse-perf.pl marks them. */
static void inlined_folded(const struct frame_lines *l, const struct stack_frame *f)
{
	for (int i = l->n - 1; i >= 0; i--) {
		putchar(';');
		stack_folded_name(inlined_name(l, i, f));
		fputs("_[i]", stdout);
	}
}

void stack_folded(const struct stack *s)
{
	if (!s)
		fputs("[no stack]", stdout);
	for (int i = s ? s->n - 1 : -1; i >= 0; i--) {
		struct frame_lines lines;
		unsigned long long off = 0;
		const char *sym = name_of(&s->frames[i], &off);

		if (sym)
			stack_folded_name(sym);
		else
			fputs("[unknown]", stdout);
		lines = frame_lines(s, &s->frames[i]);
		inlined_folded(&lines, &s->frames[i]);
		if (i)
			putchar(';');
	}
}
