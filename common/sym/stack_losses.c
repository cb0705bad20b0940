/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "abi/stack_frames.h"
#include "base/die.h"
#include "sym/frames.h"
#include "sym/stack_losses.h"

enum {
	TRUNCATED = 1 << NOTE_TOO_LARGE | 1 << NOTE_TOO_DEEP,
	RULES = 1 << NOTE_NO_RULES | 1 << NOTE_BAD_RULES,
};

unsigned stack_notes(const struct stack_frame *frames, int n)
{
	unsigned notes = 0;

	for (int i = 0; i < n; i++)
		if (frames[i].kind == FRAME_KIND_NOTE && frame_note_of(frames[i].at) < 32)
			notes |= 1u << frame_note_of(frames[i].at);
	return notes;
}

void stack_losses_add(struct stack_losses *l, unsigned notes)
{
	l->stacks += !!notes;
	l->truncated += !!(notes & TRUNCATED);
	l->no_rules += !!(notes & RULES);
	l->unreadable += !!(notes & 1 << NOTE_UNREADABLE);
	l->lost += !!(notes & (1 << NOTE_LOST | 1 << NOTE_COPIED));
	l->python += !!(notes & 1 << NOTE_PYTHON_LOST);
}

void stack_losses_warn(const struct stack_losses *l)
{
	char text[256] = "";
	int at = 0;

	if (!l || !l->stacks)
		return;
#define PART(n, what)									\
	if (n)										\
		at += snprintf(text + at, sizeof(text) - at, "%s %llu " what, at ? "," : ":", n)
	PART(l->truncated, "truncated (see --stack-size)");
	PART(l->no_rules, "without unwind information");
	PART(l->unreadable, "unreadable");
	PART(l->lost, "without room in the ring buffer");
	PART(l->python, "without all Python frames");
#undef PART
	warning(0, "%llu call stack%s incomplete%s", l->stacks, l->stacks == 1 ? " is" : "s are", text);
}
