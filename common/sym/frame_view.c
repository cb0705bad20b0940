/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "abi/stack_frames.h"
#include "python/python.h"
#include "sym/frame_view.h"
#include "sym/frames.h"
#include "sym/module.h"
#include "sym/stack_losses.h"
#include "unwind/unwind.h"

/* A return address is just after the call, which may already be in the next function. */
static void view_native(const struct stack_frame *f, struct frame_view *v)
{
	struct module *m = frame_module(f);
	unsigned long long off = 0;
	int behind = !(f->at & FRAME_EXACT);
	const char *symbol;

	v->off = f->at & FRAME_VALUE_MASK;
	v->module = m;
	v->at = v->off - behind;
	if (!m)
		return;
	v->file = m->path;
	symbol = module_symbol(m, v->off - behind, &off);
	if (!symbol)
		return;
	v->symbol = symbol;
	v->name = demangle(&m->modules->demangler, symbol);
	v->off = off + behind;
}

static void view_jit(const struct stack_frame *f, struct frame_view *v)
{
	v->name = f->what;
	v->off = f->at;
}

static void view_python(const struct stack_frame *f, struct frame_view *v)
{
	const struct python_code *code = f->what;

	v->line = (unsigned)f->at;
	if (!code)
		return;
	v->name = code->name;
	v->file = code->file;
}

static void view_note(const struct stack_frame *f, struct frame_view *v)
{
	unsigned long long value = f->at & FRAME_VALUE_MASK;
	enum frame_note note = frame_note_of(f->at);
	size_t size = sizeof(v->note);
	bool is_address = false;

	v->name = v->note;
	switch (note) {
	case NOTE_TOO_LARGE:
		snprintf(v->note, size, "truncated: stack larger than %llu KiB", value);
		break;
	case NOTE_TOO_DEEP:
		snprintf(v->note, size, "truncated: more than %llu frames", value);
		break;
	case NOTE_NO_RULES:
		snprintf(v->note, size, "no unwind information");
		is_address = true;
		break;
	case NOTE_BAD_RULES:
		snprintf(v->note, size, "bad unwind information");
		is_address = true;
		break;
	case NOTE_UNREADABLE:
		snprintf(v->note, size, "stack unreadable");
		is_address = true;
		break;
	case NOTE_PYTHON_LOST:
		snprintf(v->note, size, "Python frames lost: ");
		python_loss(value, v->note + strlen(v->note), size - strlen(v->note));
		break;
	case NOTE_GO_LOST:
		snprintf(v->note, size, "Go frames lost: %s", unwinder_go_loss(value));
		break;
	case NOTE_NO_STACK:
		snprintf(v->note, size, "no stack: %s", no_stack_text(value));
		break;
	case NOTE_COPIED:	/* not unwound */
	case NOTE_LOST:
		snprintf(v->note, size, "stack lost: no room in the ring buffer");
		break;
	default:
		snprintf(v->note, size, "unknown frame 0x%llx", f->at);
	}
	if (!is_address)
		return;
	v->off = value;
	if (f->what)
		v->file = frame_module(f)->path;
}

void frame_view(const struct stack_frame *f, struct frame_view *v)
{
	*v = (struct frame_view){ .kind = f->kind };
	if (f->kind == FRAME_KIND_NATIVE)
		view_native(f, v);
	else if (f->kind == FRAME_KIND_JIT)
		view_jit(f, v);
	else if (f->kind == FRAME_KIND_PYTHON)
		view_python(f, v);
	else
		view_note(f, v);
}

const char *frame_build_id(const struct frame_view *v)
{
	return v->module ? module_build_id(v->module) : "";
}
