/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "abi/stack_frames.h"
#include "python/python.h"
#include "sym/frames.h"
#include "sym/merge.h"
#include "sym/module.h"
#include "sym/stack.h"

struct merging {
	const struct stack_frame *frames;
	int n, natives;		/* natives: how many are native, with their note */
	bool *evals;		/* of each native frame */
	int next;		/* Python frame that was not used yet */
	struct stack_frame *to;
	int made;
};

static bool is_native(const struct stack_frame *f)
{
	return f->kind == FRAME_KIND_NATIVE || f->kind == FRAME_KIND_JIT;
}

static int count_natives(const struct stack_frame *frames, int n)
{
	int i = 0, last = 0;

	/* the frames of a goroutine come after those that it called, and perhaps their note */
	for (; i < n && (is_native(&frames[i]) || frames[i].kind == FRAME_KIND_NOTE); i++)
		if (is_native(&frames[i]))
			last = i + 1;
	i = last;
	return i < n && frames[i].kind == FRAME_KIND_NOTE ? i + 1 : i;
}

static void merge_put(struct merging *m, const struct stack_frame *f)
{
	m->to[m->made++] = *f;
}

static bool next_is(const struct merging *m, enum frame_kind kind)
{
	return m->next < m->n && m->frames[m->next].kind == kind;
}

/* With the note after its frames: it says what is missing there. */
static void put_run(struct merging *m)
{
	bool entry = false;

	while (!entry && next_is(m, FRAME_KIND_PYTHON)) {
		entry = m->frames[m->next].at & FRAME_AT_ENTRY;
		merge_put(m, &m->frames[m->next++]);
	}
	if (next_is(m, FRAME_KIND_NOTE))
		merge_put(m, &m->frames[m->next++]);
}

static bool is_interpreters(const struct merging *m, int at)
{
	if (m->frames[at].kind != FRAME_KIND_NATIVE || !m->frames[at].what)
		return false;
	for (int i = 0; i < m->natives; i++)
		if (m->evals[i] && m->frames[i].what == m->frames[at].what)
			return true;
	return false;
}

static void put_native(struct merging *m, int at)
{
	if (m->evals[at] && next_is(m, FRAME_KIND_PYTHON))
		put_run(m);
	else if (m->evals[at] || !is_interpreters(m, at))
		merge_put(m, &m->frames[at]);
}

int merge_frames(const struct stack_frame *frames, int n, struct stack_frame *to,
		 merge_is_eval_fn *is_eval)
{
	struct merging m = { .frames = frames, .n = n, .natives = count_natives(frames, n), .to = to };

	m.next = m.natives;
	if (!next_is(&m, FRAME_KIND_PYTHON)) {
		memcpy(to, frames, n * sizeof(*to));
		return n;
	}
	m.evals = xcalloc(m.natives + 1, sizeof(*m.evals));
	for (int i = 0; i < m.natives; i++)
		m.evals[i] = frames[i].kind == FRAME_KIND_NATIVE && is_eval(&frames[i]);
	for (int i = 0; i < m.natives; i++)
		put_native(&m, i);
	while (m.next < n)
		merge_put(&m, &frames[m.next++]);
	free(m.evals);
	return m.made;
}

static bool runs_python(const struct stack_frame *f)
{
	unsigned long long at = (f->at & FRAME_VALUE_MASK) - 1, off;
	const char *symbol;

	if (!f->what)
		return false;
	symbol = module_symbol(frame_module(f), at, &off);
	return symbol ? python_is_eval(symbol) : eval_code_has(&frame_module(f)->python.interpreter.eval, at);
}

static bool has_both(const struct stack *s)
{
	int natives = count_natives(s->frames, s->n);

	return natives && natives < s->n && s->frames[natives].kind == FRAME_KIND_PYTHON;
}

/* Kept, unless the interpreter was not found among the native frames: its symbols may be readable
 * later. */
const struct stack *stack_shown(const struct stack *s)
{
	struct stack_frame *frames;
	struct stack *self, *shown;
	int n;

	if (stack_is_missing(s))
		return s;
	if (s->shown)
		return s->shown;
	self = stack_of(s->syms, s->frames, s->n);
	if (!has_both(s))
		return self->shown = s;
	frames = xcalloc(s->n, sizeof(*frames));
	n = merge_frames(s->frames, s->n, frames, runs_python);
	if (n == s->n && !memcmp(frames, s->frames, n * sizeof(*frames))) {
		shown = self;
	} else {
		shown = stack_of(s->syms, frames, n);
		self->shown = shown->shown = shown;
	}
	free(frames);
	return shown;
}
