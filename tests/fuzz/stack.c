/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes call stacks: any frames in any order, merged, as text, as JSON and folded. */
#include "fuzz.h"
#include "abi/stack_frames.h"
#include "cli/out.h"
#include "python/python.h"
#include "sym/frames.h"
#include "sym/merge.h"
#include "sym/module.h"
#include "sym/stack.h"
#include "sym/stack_losses.h"
#include "view/stack_view.h"

enum { FILES = 3, MOST = 200, EVAL = 7 /* at of a function that runs Python frames */ };

static bool is_eval(const struct stack_frame *f)
{
	return f->at == EVAL;
}

static struct stack_frame frame_of(struct input *in, const struct module *files,
				   const struct python_code *codes)
{
	unsigned long long kind = take(in, 1), which = take(in, 1), at = take(in, kind & 4 ? 8 : 1);
	const void *what = NULL;

	switch (kind % 4) {
	case 1:
		if (which % (FILES + 1))
			what = &codes[which % FILES];
		return (struct stack_frame){
			FRAME_KIND_PYTHON, what, (at & 0xffffffff) | (kind & 8 ? FRAME_AT_ENTRY : 0),
		};
	case 2:
		if (which & 64)
			what = &files[which % FILES];
		return (struct stack_frame){ FRAME_KIND_NOTE, what, FRAME_NOTE_OF(which & 63, at) };
	default:
		if (which % (FILES + 1))
			what = &files[which % FILES];
		return (struct stack_frame){ FRAME_KIND_NATIVE, what, at };
	}
}

/* Every frame that is not the interpreter's is there once. */
static size_t count(const struct stack_frame *frames, int n, const struct stack_frame *like)
{
	size_t found = 0;

	for (int i = 0; i < n; i++)
		found += !memcmp(&frames[i], like, sizeof(*like));
	return found;
}

static void check_merge(const struct stack_frame *frames, int n, const struct stack_frame *to, int left)
{
	bool any = false;

	CHECK(left >= 0 && left <= n);
	for (int i = 0; i < n; i++)
		any |= frames[i].kind == FRAME_KIND_NATIVE && is_eval(&frames[i]);
	CHECK(any || left == n);
	for (int i = 0; i < n; i++)
		if (!any || !frames[i].what || frames[i].kind != FRAME_KIND_NATIVE)
			if (frames[i].kind != FRAME_KIND_NATIVE || !is_eval(&frames[i]))
				CHECK(count(to, left, &frames[i]) == count(frames, n, &frames[i]));
	for (int i = 0; i < left; i++)
		CHECK(count(to, left, &to[i]) <= count(frames, n, &to[i]));
}

static void check_print(const struct stack *s)
{
	const char *text;
	size_t lines = 0;

	capture(false);
	stack_text(s);
	text = captured();
	CHECK(printable(text, true) >= 0);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	CHECK(lines == (size_t)s->n);

	capture(false);
	OUT_STACK->json(&s);
	putchar('\n');
	CHECK(is_json(captured()));

	capture(false);
	stack_folded(s);
	text = captured();
	CHECK(printable(text, false) >= 0);
	lines = 0;
	for (const char *at = text; (at = strchr(at, ';')); at++)
		lines++;
	CHECK(lines == (size_t)(s->n ? s->n - 1 : 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct module files[FILES] = { 0 };
	struct python_code codes[FILES] = { 0 };
	struct stack_frame frames[MOST], to[MOST];
	struct stack_losses losses = { 0 };
	char *texts[2 * FILES];
	struct stack *s;
	int n = 0, left;

	for (int i = 0; i < FILES; i++) {
		texts[2 * i] = take_text(&in);
		texts[2 * i + 1] = take_text(&in);
		files[i].path = codes[i].file = texts[2 * i];
		codes[i].name = texts[2 * i + 1];
		files[i].fd = -1;
	}
	while (n < MOST && in.left)
		frames[n++] = frame_of(&in, files, codes);
	left = merge_frames(frames, n, to, is_eval);
	check_merge(frames, n, to, left);
	stack_losses_add(&losses, stack_notes(frames, n));

	s = xcalloc(1, sizeof(*s) + sizeof(to));
	s->shown = s;
	s->n = left;
	memcpy(s->frames, to, left * sizeof(*to));
	check_print(s);
	free(s);
	for (int i = 0; i < 2 * FILES; i++)
		free(texts[i]);
	return 0;
}
