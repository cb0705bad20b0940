/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "abi/python_frames.h"
#include "base/die.h"
#include "base/escape.h"
#include "python/python.h"
#include "sym/frames.h"
#include "sym/jit.h"
#include "sym/mappings.h"
#include "sym/module.h"
#include "sym/stack.h"
#include "sym/syms.h"
#include "unwind/unwind.h"

/* Data of one frame.  Without --lines, everything is 0. */
struct frame_lines {
	const struct source_line *inlined;	/* from the innermost outwards */
	int n;
	const struct source_line *own;	/* in the function that they are inlined into; NULL: unknown */
	bool wanted;
};

/* The source lines and inlined functions of native frames. */

/* A return address is just after the call. */
static struct frame_lines frame_lines(const struct stack *s, const struct stack_frame *f)
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

	*v = (struct frame_view){ .kind = FRAME_KIND_NATIVE, .file = m->path, .module = m, .inlined = true };
	v->symbol = name;
	v->name = name ? demangle(&m->modules->demangler, name) : "?";
}

/* Fills the view as frame_view() does, with the source line, for inlined function i, or if i is n, for the frame
 * itself. */
static void frame_lines_view(const struct frame_lines *l, int i, const struct stack_frame *f, struct frame_view *v)
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

bool stack_view(const struct stack *s, int i, struct frame_view *view)
{
	s = stack_shown(s);
	if (!s || i >= s->n)
		return false;
	frame_view(&s->frames[i], view);
	return true;
}

const char *stack_file(const struct stack *s, int i)
{
	const struct module *m;

	if (i >= s->n)
		return NULL;
	m = frame_module(&s->frames[i]);
	return m ? m->path : "";
}

/* Of each reason, a stack of one frame. */
#define MISSING(m)									\
	m(NO_STACK_CALL) m(NO_STACK_RETURN) m(NO_STACK_PYTHON) m(NO_STACK_CALLER)	\
	m(NO_STACK_INJECT) m(NO_STACK_MEMORY) m(NO_STACK_RECORD) m(NO_STACK_TIME)	\
	m(NO_STACK_FORBIDDEN) m(NO_STACK_GONE)
#define STACK_OF(why)									\
	static const struct stack missing_##why = {					\
		.n = 1, .frames = { { FRAME_KIND_NOTE, NULL, FRAME_NOTE_OF(NOTE_NO_STACK, why) } } };
#define ENTRY_OF(why) [why] = &missing_##why,
MISSING(STACK_OF)
static const struct stack *const missing[] = { MISSING(ENTRY_OF) };

_Static_assert(sizeof(missing) / sizeof(*missing) == NO_STACKS, "each has one");

const struct stack *stack_missing(struct syms *s, enum no_stack why)
{
	if (s)
		stack_losses_add(s->losses, stack_notes(missing[why]->frames, 1));
	return missing[why];
}

bool stack_is_missing(const struct stack *s)
{
	for (unsigned why = 0; s && why < NO_STACKS; why++)
		if (s == missing[why])
			return true;
	return !s;
}

unsigned stack_reasons(const struct stack *s)
{
	return stack_notes(s->frames, s->n);
}

/* Returns what is printed of it. */
static const struct stack *printed(const struct stack *s)
{
	return stack_shown(s ?: stack_missing(NULL, NO_STACK_CALL));
}

const struct stack *stack_from(const struct stack *s, int i)
{
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

static bool follows(const char *name, const char *at, const char *word)
{
	const size_t len = strlen(word);

	return (size_t)(at - name) >= len && !strncmp(at - len, word, len);
}

/* Replaces what is in the outermost brackets of one kind by "...". */
static void elide(char *name, char open, char close)
{
	static const char anonymous[] = "(anonymous namespace)";
	char *to = name;
	int depth = 0;

	for (const char *p = name; *p; p++) {
		const bool word = follows(name, p, "operator") || follows(name, p, "operator<") || follows(name, p, "-");
		const size_t len = !strncmp(p, anonymous, strlen(anonymous)) ? strlen(anonymous) : 1;

		if (len == 1 && *p == close && !word && depth && !--depth) {
			const size_t had = p - to < 3 ? p - to : 3;

			memcpy(to, "...", had);
			to += had;
		}
		if (!depth)
			to = (char *)memmove(to, p, len) + len;
		depth += len == 1 && *p == open && !word;
		p += len - 1;
	}
	*to = '\0';
}

/* A template's name may have thousands of characters.  JSON has them all. */
static void text_name(FILE *f, const char *name)
{
	enum { LONG_NAME = 160 };
	char *brief = xstrdup(name);

	if (strlen(brief) > LONG_NAME)
		elide(brief, '<', '>');
	if (strlen(brief) > LONG_NAME)
		elide(brief, '(', ')');
	escape_text(f, brief);
	free(brief);
}

static void text_native(FILE *f, const struct frame_view *v)
{
	if (v->inlined) {
		text_name(f, v->name);
		fputs(" (inlined)", f);
	} else if (v->name) {
		text_name(f, v->name);
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

void stack_lines(FILE *file, const struct stack *s, const char *indent)
{
	struct frame_view v;

	s = printed(s);
	for (int i = 0; i < s->n; i++) {
		struct frame_lines lines = frame_lines(s, &s->frames[i]);

		for (int k = 0; k <= lines.n; k++) {
			frame_lines_view(&lines, k, &s->frames[i], &v);
			fputs(indent, file);
			text_frame(file, &v);
			fputc('\n', file);
		}
	}
}

void stack_text(const struct stack *s)
{
	stack_lines(stdout, s, "        ");
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

void stack_each(const struct stack *s, void (*fn)(void *ctx, const struct frame_view *v), void *ctx)
{
	struct frame_view v;

	s = printed(s);
	for (int i = 0; i < s->n; i++) {
		struct frame_lines lines = frame_lines(s, &s->frames[i]);

		for (int k = 0; k <= lines.n; k++) {
			frame_lines_view(&lines, k, &s->frames[i], &v);
			fn(ctx, &v);
		}
	}
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

	s = printed(s);
	for (int i = s->n - 1; i >= 0; i--) {
		struct frame_lines lines = frame_lines(s, &s->frames[i]);

		for (int k = lines.n; k >= 0; k--) {
			frame_lines_view(&lines, k, &s->frames[i], &v);
			folded_frame(&v);
			if (i || k)
				putchar(';');
		}
	}
}

static struct stack_frame native_frame(struct syms *s, struct mappings *p, unsigned long long addr)
{
	struct stack_frame f = { FRAME_KIND_NATIVE, NULL, 0 };

	f.what = mappings_module(s, p, addr, &f.at);
	return f;
}

/* A return address is just after the call. */
static struct stack_frame generated_frame(struct syms *s, int pid, struct stack_frame native)
{
	unsigned long long off;
	const char *name = jit_name(s->jit, pid, native.at - 1, &off);

	return name ? (struct stack_frame){ FRAME_KIND_JIT, name, off + 1 } : native;
}

static struct stack_frame python_frame(struct syms *s, int pid, unsigned long long frame)
{
	return (struct stack_frame){
		FRAME_KIND_PYTHON, python_code(s->python, pid, frame),
		python_line(s->python, pid, frame) | (frame & FRAME_PYTHON_ENTRY ? FRAME_AT_ENTRY : 0),
	};
}

/* Code without rules, or with bad ones, is in a file. */
static struct stack_frame note_frame(struct syms *s, struct mappings *p, unsigned long long frame)
{
	struct stack_frame f = { FRAME_KIND_NOTE, NULL, frame };
	enum frame_note note = frame_note_of(frame);

	if (note == NOTE_NO_RULES || note == NOTE_BAD_RULES)
		f.what = native_frame(s, p, (frame & FRAME_VALUE_MASK) - 1).what;
	return f;
}

static struct stack_frame frame_of(struct syms *s, struct mappings *p, unsigned long long frame)
{
	struct stack_frame f;

	if (frame & FRAME_PYTHON)
		return python_frame(s, p->pid, frame);
	if (frame & FRAME_NOTE)
		return note_frame(s, p, frame);
	f = native_frame(s, p, frame & FRAME_VALUE_MASK);
	if (!f.what)
		return generated_frame(s, p->pid, f);
	f.at |= frame & FRAME_EXACT;
	return f;
}

/* The frames of a record, those of a copy included. */
struct frames {
	unsigned long long at[STACK_FRAMES + STACK_NATIVE];
	int n;
};

static void add_frames(struct frames *to, const unsigned long long *frames, int n)
{
	for (int i = 0; i < n && to->n < STACK_FRAMES + STACK_NATIVE; i++)
		to->at[to->n++] = frames[i];
}

static bool is_python(unsigned long long frame)
{
	return frame & FRAME_PYTHON || (frame & FRAME_NOTE && frame_note_of(frame) == NOTE_PYTHON_LOST);
}

static bool is_go_lost(unsigned long long frame)
{
	return (frame & ~FRAME_VALUE_MASK) == FRAME_NOTE_OF(NOTE_GO_LOST, 0);
}

/* The programs look for Python frames once the process is known to run Python.  Here that may be known
 * although it was not when the stack was taken: says so in the stack. */
static void check_python(struct syms *s, int pid, struct frames *frames)
{
	static const unsigned long long not_yet = FRAME_NOTE_OF(NOTE_PYTHON_LOST, PYTHON_NOT_YET);
	unsigned long long last = frames->at[frames->n - 1];
	bool looked = is_python(last) && last != not_yet;

	if (last == not_yet || last == FRAME_NOTE_OF(NOTE_PYTHON_LOST, PYTHON_NO_FRAMES))
		frames->n--;
	if (!looked && python_runs(s->python, pid))
		add_frames(frames, &not_yet, 1);
}

/* The frames of a goroutine, or why there are none, follow the copy of the stack of what it called.  Return true if next, a reason, is of no
 * use: the copy does not end there. */
static bool join_go(struct frames *to, unsigned long long next)
{
	bool ends = to->n && is_go_lost(to->at[to->n - 1]);

	if (ends && !is_python(next))
		to->n--;
	return !ends && is_go_lost(next);
}

static void expand(struct syms *s, const unsigned long long *frames, int n, struct frames *to)
{
	static const unsigned long long lost[] = { FRAME_NOTE_OF(NOTE_LOST, 0) };
	const unsigned long long *copied;
	int ncopied = 1;

	to->n = 0;
	if (n && (*frames & ~FRAME_VALUE_MASK) == FRAME_NOTE_OF(NOTE_COPIED, 0)) {
		copied = unwinder_frames(s->unwinder, *frames & FRAME_VALUE_MASK, &ncopied);
		add_frames(to, copied ?: lost, ncopied);
		frames++;
		n--;
		if (n && join_go(to, *frames)) {
			frames++;
			n--;
		}
	} else if (n && !*frames) {
		frames++;
		n--;
	}
	add_frames(to, frames, n);
}

static struct stack *find_stack(struct syms *s, const struct stack_frame *frames, int n)
{
	struct stack *stack;

	HASH_FIND(hh, s->stacks, frames, n * sizeof(*frames), stack);
	return stack;
}

struct stack *stack_of(struct syms *s, const struct stack_frame *frames, int n)
{
	struct stack *stack = find_stack(s, frames, n);

	if (stack)
		return stack;
	stack = xcalloc(1, sizeof(*stack) + n * sizeof(*frames));
	stack->syms = s;
	stack->notes = stack_notes(frames, n);
	stack->n = n;
	memcpy(stack->frames, frames, n * sizeof(*frames));
	for (int i = 0; i < n; i++)
		module_want(module_ref(frame_module(&stack->frames[i])));
	HASH_ADD(hh, s->stacks, frames, n * sizeof(*frames), stack);
	return stack;
}

/* Heap bytes of a stack; one with Python frames, also as it is shown. */
static size_t cost_of(const struct stack_frame *frames, int n)
{
	size_t size = sizeof(struct stack) + n * sizeof(*frames);

	for (int i = 0; i < n; i++)
		if (frames[i].kind == FRAME_KIND_PYTHON)
			return 2 * size;
	return size;
}

static int describe(struct syms *s, struct mappings *p, const struct frames *frames, struct stack_frame *of)
{
	int n = 0;

	for (int i = 0; i < frames->n; i++) {
		struct stack_frame f = frame_of(s, p, frames->at[i]);

		if (f.kind != FRAME_KIND_PYTHON || !python_hides(f.what, f.at & ~FRAME_AT_ENTRY))
			of[n++] = f;
	}
	return n;
}

const struct stack *stack_get(struct syms *s, int pid, const unsigned long long *addrs, int n)
{
	struct stack_frame of[STACK_FRAMES + STACK_NATIVE];
	struct frames frames;
	struct mappings *p;
	struct stack *stack;

	if (!s || !n)
		return NULL;
	expand(s, addrs, n, &frames);
	if (!frames.n)
		return NULL;
	p = mappings_of(s, pid);
	check_python(s, pid, &frames);
	if (!frames.n)
		return stack_missing(s, NO_STACK_PYTHON);
	memset(of, 0, frames.n * sizeof(*of));	/* not all of it: most have a few frames */
	n = describe(s, p, &frames, of);
	stack = find_stack(s, of, n);
	if (!stack && quota_take(&s->stacks_quota, p->user, pid, cost_of(of, n)))
		stack = stack_of(s, of, n);
	if (!stack)
		return stack_missing(s, NO_STACK_MEMORY);
	stack_losses_add(s->losses, stack->notes);
	return stack;
}
