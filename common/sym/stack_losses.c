/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include "base/die.h"
#include "python/python.h"
#include "sym/frames.h"
#include "sym/stack_losses.h"
#include "unwind/unwind.h"

/* key: in JSON; NULL: nothing is lost, and it is not counted.  text: NULL: that of python_loss() or unwinder_go_loss(). */
static const struct { const char *key, *text; } reasons[] = {
	[LOSS_TRUNCATED] = { "truncated", "truncated (see --stack-size)" },
	[LOSS_RULES] = { "no_unwind_information", "without unwind information" },
	[LOSS_UNREADABLE] = { "unreadable", "unreadable" },
	[LOSS_RING_BUFFER] = { "ring_buffer_full", "without room in the ring buffer" },
	[LOSS_PYTHON + PYTHON_NO_FRAMES] = { "python_other", "unknown reason" },
	[LOSS_PYTHON + PYTHON_TOO_DEEP] = { "python_too_deep", NULL },
	[LOSS_PYTHON + PYTHON_UNREADABLE] = { "python_unreadable", NULL },
	[LOSS_PYTHON + PYTHON_TOO_MANY] = { "python_too_many_threads", NULL },
	[LOSS_PYTHON + PYTHON_NO_MEMORY] = { "python_no_memory", NULL },
	[LOSS_PYTHON + PYTHON_UNSUPPORTED] = { "python_unsupported", "unsupported version" },
	[LOSS_PYTHON + PYTHON_NOT_YET] = { "python_not_known_yet", NULL },
	[LOSS_GO + GO_NOT_YET] = { "go_not_known_yet", NULL },
	[LOSS_GO + GO_NO_PLACE] = { "go_stripped", NULL },
	[LOSS_GO + GO_UNREADABLE] = { "go_unreadable", NULL },
	[LOSS_GO + GO_CALLED_BACK] = { "go_called_back", NULL },
	[LOSS_GO + GO_FRAMES] = { "go_other", "unknown reason" },
	[LOSS_STACK + NO_STACK_CALL] = { NULL, "its call was not seen" },
	[LOSS_STACK + NO_STACK_RETURN] = { NULL, "it is taken at the return" },
	[LOSS_STACK + NO_STACK_PYTHON] = { NULL, "the thread runs no Python" },
	[LOSS_STACK + NO_STACK_CALLER] = { NULL, "the call has no caller" },
	[LOSS_STACK + NO_STACK_INJECT] = { NULL, "--attach inject reads those of calls only" },
	[LOSS_STACK + NO_STACK_MEMORY] = { "no_stack_memory_full", "memory for call stacks is full" },
	[LOSS_STACK + NO_STACK_RECORD] = { "no_stack_record_lost", "its record was lost" },
	[LOSS_STACK + NO_STACK_TIME] = { "no_stack_no_time", "no time to read it" },
	[LOSS_STACK + NO_STACK_FORBIDDEN] = { "no_stack_forbidden", "reading memory is not permitted" },
	[LOSS_STACK + NO_STACK_GONE] = { "no_stack_gone", "the thread or its memory is gone" },
};

_Static_assert(sizeof(reasons) / sizeof(*reasons) == STACK_LOSSES && STACK_LOSSES <= 32, "a bit");

static enum stack_loss loss_of(unsigned long long frame)
{
	unsigned long long value = frame & FRAME_VALUE_MASK;
	unsigned python = value & 0xff;

	switch (frame_note_of(frame)) {
	case NOTE_TOO_LARGE:
	case NOTE_TOO_DEEP:
		return LOSS_TRUNCATED;
	case NOTE_NO_RULES:
	case NOTE_BAD_RULES:
		return LOSS_RULES;
	case NOTE_UNREADABLE:
		return LOSS_UNREADABLE;
	case NOTE_COPIED:	/* not unwound */
	case NOTE_LOST:
		return LOSS_RING_BUFFER;
	case NOTE_PYTHON_LOST:
		return LOSS_PYTHON + (python < PYTHON_LOSSES ? python : PYTHON_NO_FRAMES);
	case NOTE_GO_LOST:
		return LOSS_GO + (value < GO_LOSSES ? value : GO_FRAMES);
	case NOTE_NO_STACK:
		return LOSS_STACK + (value < NO_STACKS ? value : NO_STACK_CALL);
	}
	return STACK_LOSSES;
}

unsigned stack_notes(const struct stack_frame *frames, int n)
{
	unsigned notes = 0;

	for (int i = 0; i < n; i++) {
		enum stack_loss loss = STACK_LOSSES;

		if (frames[i].kind == FRAME_KIND_NOTE)
			loss = loss_of(frames[i].at);
		if (loss < STACK_LOSSES && reasons[loss].key)
			notes |= 1u << loss;
	}
	return notes;
}

void stack_losses_add(struct stack_losses *l, unsigned notes)
{
	if (!l)
		return;
	l->stacks += !!notes;
	for (int i = 0; i < STACK_LOSSES; i++)
		l->by[i] += notes >> i & 1;
}

static void print_loss(FILE *f, enum stack_loss loss)
{
	char text[96];

	if (loss < LOSS_PYTHON) {
		fputs(reasons[loss].text, f);
	} else if (loss < LOSS_GO) {
		python_loss(loss - LOSS_PYTHON, text, sizeof(text));
		fprintf(f, "without all Python frames (%s)", reasons[loss].text ?: text);
	} else if (loss < LOSS_STACK) {
		fprintf(f, "without Go frames (%s)",
			reasons[loss].text ?: unwinder_go_loss(loss - LOSS_GO));
	} else {
		fprintf(f, "without any frame (%s)", reasons[loss].text);
	}
}

void stack_losses_warn(const struct stack_losses *l)
{
	const char *gap = ":";
	size_t size;
	char *text;
	FILE *f;

	if (!l->stacks)
		return;
	f = open_memstream(&text, &size);
	if (!f)
		die(ENOMEM, "a string");
	for (int i = 0; i < STACK_LOSSES; i++) {
		if (!l->by[i])
			continue;
		fprintf(f, "%s %llu ", gap, l->by[i]);
		print_loss(f, i);
		gap = ",";
	}
	fclose(f);
	warning(0, "%llu call stack%s incomplete%s", l->stacks, l->stacks == 1 ? " is" : "s are", text);
	free(text);
}

void stack_losses_json(FILE *f, const void *of)
{
	const struct stack_losses *l = of;
	const char *gap = "{";

	for (int i = 0; i < STACK_LOSSES; i++) {
		if (!l->by[i])
			continue;
		fprintf(f, "%s\"%s\":%llu", gap, reasons[i].key, l->by[i]);
		gap = ",";
	}
	fputs(*gap == '{' ? "{}" : "}", f);
}

const char *no_stack_text(unsigned long long value)
{
	return reasons[LOSS_STACK + (value < NO_STACKS ? value : NO_STACK_CALL)].text;
}
