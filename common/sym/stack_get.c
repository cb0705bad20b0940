/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "abi/python.h"
#include "python/python.h"
#include "sym/frames.h"
#include "sym/jit.h"
#include "sym/mappings.h"
#include "sym/syms.h"
#include "unwind/unwind.h"

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

/* What has no rules, or bad ones, is in a file. */
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

/* What a stack takes on the heap; one with Python frames, also as it is shown. */
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
		return NULL;
	memset(of, 0, frames.n * sizeof(*of));	/* not all of it: most have a few frames */
	n = describe(s, p, &frames, of);
	stack = find_stack(s, of, n);
	if (!stack && quota_take(&s->stacks_quota, p->user, pid, cost_of(of, n)))
		stack = stack_of(s, of, n);
	if (stack)
		stack_losses_add(&s->losses, stack->notes);
	return stack;
}
