/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* stacks merge FRAME...: prints the frames as merge_frames() leaves them.  A FRAME is MODULE:NAME of a
 *	native one, which runs Python frames if the name begins with '*'; ?:NAME of one without a file;
 *	NAME of a Python one, with a '!' at its end if the interpreter was entered there; or a [note].
 * stacks view: prints a stack of each kind of frame as text, as JSON and folded; then no stack, folded.
 * stacks losses: counts notes, warns, and prints them as JSON.
 * stacks groups: two stacks that look the same, and one that does not, as groups of cudaleak.
 * stacks idle: memory of one stack after the other, freed before the next, with room for few; then of as
 *	many that are not freed. */
#include <stdio.h>
#include <string.h>
#include "abi/stack_frames.h"
#include "cudaleak/leak.h"
#include "python/python.h"
#include "sym/frames.h"
#include "sym/merge.h"
#include "sym/module.h"
#include "sym/stack.h"
#include "sym/stack_losses.h"
#include "view/stack_view.h"

enum { MAX = 64 };

/* What the frames of merge were: at is an index. */
static char **names;
static const char *modules[MAX];

static const char *name_of(const struct stack_frame *f)
{
	return names[(unsigned)f->at];
}

static bool is_eval(const struct stack_frame *f)
{
	return strchr(name_of(f), ':')[1] == '*';
}

static const void *module_of(const char *name)
{
	size_t len = strcspn(name, ":");
	int i = 0;

	if (*name == '?')
		return NULL;
	while (modules[i] && (strncmp(modules[i], name, len) || modules[i][len] != ':'))
		i++;
	modules[i] = name;
	return &modules[i];
}

static struct stack_frame parse(char *name, unsigned at)
{
	size_t last = strlen(name) - 1;

	if (*name == '[')
		return (struct stack_frame){ FRAME_KIND_NOTE, NULL, at };
	if (strchr(name, ':'))
		return (struct stack_frame){ FRAME_KIND_NATIVE, module_of(name), at };
	return (struct stack_frame){
		FRAME_KIND_PYTHON, NULL, at | (name[last] == '!' ? FRAME_AT_ENTRY : 0),
	};
}

static void merge(int n, char **args)
{
	struct stack_frame frames[MAX], to[MAX];

	names = args;
	n = n < MAX ? n : MAX;
	for (int i = 0; i < n; i++)
		frames[i] = parse(args[i], i);
	n = merge_frames(frames, n, to, is_eval);
	for (int i = 0; i < n; i++)
		printf("%s%s", i ? " " : "", name_of(&to[i]));
	putchar('\n');
}

static struct stack *new_stack(const struct stack_frame *frames, int n)
{
	struct stack *s = xcalloc(1, sizeof(*s) + n * sizeof(*frames));

	s->n = n;
	s->shown = s;
	memcpy(s->frames, frames, n * sizeof(*frames));
	return s;
}

#define NOTE(note, file, value) { FRAME_KIND_NOTE, file, FRAME_NOTE_OF(note, value) }

static void view(void)
{
	struct module lib = { .path = "/lib/a;b\033.so", .fd = -1 };
	const struct python_code step = { "Trainer.step", "train;er.py", 30 }, ugly = { "\033[1m;", "", 1 };
	const struct stack_frame frames[] = {
		{ FRAME_KIND_NATIVE, &lib, 0x1f }, { FRAME_KIND_NATIVE, NULL, 0x7f0000001234 },
		{ FRAME_KIND_PYTHON, &step, 41 | FRAME_AT_ENTRY }, { FRAME_KIND_PYTHON, &ugly, 0 },
		{ FRAME_KIND_PYTHON, NULL, 7 },
		NOTE(NOTE_TOO_LARGE, NULL, 32), NOTE(NOTE_TOO_DEEP, NULL, 127),
		NOTE(NOTE_NO_RULES, &lib, 0x1234), NOTE(NOTE_NO_RULES, NULL, 0x1234),
		NOTE(NOTE_BAD_RULES, &lib, 0x1234), NOTE(NOTE_UNREADABLE, NULL, 0x5678),
		NOTE(NOTE_LOST, NULL, 0), NOTE(NOTE_PYTHON_LOST, NULL, 1), NOTE(63, NULL, 0),
	};
	struct stack *s = new_stack(frames, sizeof(frames) / sizeof(*frames));

	stack_text(s);
	OUT_STACK->json(&s);
	putchar('\n');
	stack_folded(s);
	putchar('\n');
	stack_folded(NULL);
	putchar('\n');
	free(s);
}

/* Three stacks with one note, five with another, two with both; then two, three and five with a reason each, and one that
 * lacks nothing. */
static void losses(void)
{
	const struct stack_frame frames[] = {
		{ FRAME_KIND_NATIVE, NULL, FRAME_NOTE_OF(NOTE_LOST, 0) }, NOTE(NOTE_TOO_DEEP, NULL, 127),
		NOTE(NOTE_BAD_RULES, NULL, 1),
	};
	const struct stack_frame reasons[] = {
		NOTE(NOTE_PYTHON_LOST, NULL, PYTHON_UNSUPPORTED_OF(2)), NOTE(NOTE_PYTHON_LOST, NULL, PYTHON_UNREADABLE),
		NOTE(NOTE_GO_LOST, NULL, GO_CALLED_BACK), NOTE(NOTE_NO_STACK, NULL, NO_STACK_PYTHON),
	};
	struct stack_losses l = { 0 };

	stack_losses_warn(&l);
	stack_losses_add(&l, stack_notes(frames, 1));
	stack_losses_warn(&l);
	for (int i = 0; i < 3; i++)
		stack_losses_add(&l, stack_notes(frames, 2));
	for (int i = 0; i < 5; i++)
		stack_losses_add(&l, stack_notes(frames + 2, 1));
	for (int i = 0; i < 2; i++)
		stack_losses_add(&l, stack_notes(frames, 3));
	stack_losses_warn(&l);
	l = (struct stack_losses){ 0 };
	for (int i = 0; i < 11; i++)
		stack_losses_add(&l, stack_notes(&reasons[i < 2 ? 0 : i < 5 ? 1 : i < 10 ? 2 : 3], 1));
	stack_losses_warn(&l);
	stack_losses_json(stdout, &l);
	putchar('\n');
}

static void groups(void)
{
	const struct stack_frame frame = { FRAME_KIND_NATIVE, NULL, 1 };
	struct stack *stacks[] = { new_stack(&frame, 1), new_stack(&frame, 1), new_stack(&frame, 1) };
	struct memory memory = MEMORY_INIT;
	const struct leak_options options = { .sample = 1 };
	struct memory_event e = { .head = { .pid = 1009, .kind = CUDA_ID_cudaMalloc }, .size = 1 };
	struct leak_group *list;
	size_t n;

	stacks[1]->shown = stacks[0];
	for (int i = 0; i < 23; i++) {
		e.ptr = 4096 * (i + 1);
		memory_apply(&memory, &e, stacks[i % 3]);
	}
	list = leak_groups(memory.processes, &options, &n);
	for (size_t i = 0; i < n; i++)
		printf("%llu %llu\n", list[i].count, list[i].peak);
	free(list);
	memory_free(&memory);
	for (int i = 0; i < 3; i++)
		free(stacks[i]);
}

/* Allocates a byte in each of N stacks, and frees it before the next. */
static void idle(bool frees)
{
	enum { N = 1009 };
	struct memory memory = MEMORY_INIT;
	struct memory_event e = { .head = { .pid = 1009, .kind = CUDA_ID_cudaMalloc }, .size = 1, .ptr = 4096 };
	struct stack *stacks[N];

	memory.quota.limit = 64 << 10;
	memory.quota.whole = true;
	for (int i = 0; i < N; i++) {
		const struct stack_frame frame = { FRAME_KIND_NATIVE, NULL, i };

		stacks[i] = new_stack(&frame, 1);
		e.ptr += 4096;
		e.head.kind = CUDA_ID_cudaMalloc;
		memory_apply(&memory, &e, stacks[i]);
		e.head.kind = CUDA_ID_cudaFree;
		e.start = ++e.time;
		if (frees)
			memory_apply(&memory, &e, NULL);
	}
	printf("held %llu, ignored some: %d, peak %s\n", frees ? memory.processes->groups.held.count : 0,
	       memory.processes->ignored > 0, memory.processes->groups.held.peak > 1 ? "more" : "1");
	memory_free(&memory);
	for (int i = 0; i < N; i++)
		free(stacks[i]);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "merge"))
		merge(argc - 2, argv + 2);
	else if (!strcmp(what, "view"))
		view();
	else if (!strcmp(what, "losses"))
		losses();
	else if (!strcmp(what, "groups"))
		groups();
	else if (!strcmp(what, "idle"))
		idle(true), idle(false);
	else
		return 2;
	return 0;
}
