/* SPDX-License-Identifier: GPL-2.0 */
/* The Python frames of a thread whose state in an interpreter is known. */
#ifndef PYTHON_FRAME_BPF_H
#define PYTHON_FRAME_BPF_H
#include "lib/python_code.bpf.h"

enum {
	PYTHON_STEPS = 2 * STACK_PYTHON,	/* frames read: those of the interpreter itself, too */
	PYTHON_SHIM = 1,		/* not a frame: the interpreter's own */
	PYTHON_OWNED_BY_C = 3,		/* FRAME_OWNED_BY_CSTACK (3.12, 3.13), _BY_INTERPRETER, and on */
};

/* Part of a stack; the last one is for a note. */
struct python_frames { __u64 frame[STACK_PYTHON + 1]; };

typedef __u8 python_bytes[PYTHON_FRAME_BYTES];

/* Returns what the frame at t->next has; NULL if it cannot be read.  The ones that called it come before
 * it, and are read with it; a page is there or is not. */
static __always_inline const python_bytes *python_frame_bytes(const struct python_process *p,
							      struct python_thread *t)
{
	__u64 at = t->next, end = at + p->frame_size, from = at, size;

	if (at < t->from || end > t->end || end < at) {
		if (p->at.version >= 0x030b)
			from = end - PYTHON_STACK_BYTES < (at & ~0xfffull) ? at & ~0xfffull : end - PYTHON_STACK_BYTES;
		size = end - from;
		t->from = from;
		t->end = 0;
		if (size > sizeof(t->stack) ||
		    bpf_probe_read_user(t->stack, bounded(size, sizeof(t->stack)), (void *)from))
			return NULL;
		t->end = end;
	}
	return (const python_bytes *)&t->stack[(at - t->from) & (PYTHON_STACK_BYTES - 8)];
}

/* Adds a frame; false if there is no room. */
static __always_inline bool python_put(struct python_thread *t, struct python_frames *to, __u64 frame)
{
	__u64 n = t->n;

	if (n >= STACK_PYTHON) {
		to->frame[STACK_PYTHON] = FRAME_NOTE_OF(NOTE_PYTHON_LOST, PYTHON_TOO_DEEP);
		t->n = STACK_PYTHON + 1;
		return false;
	}
	to->frame[bounded(n, STACK_PYTHON - 1)] = frame;
	t->n = n + 1;
	return true;
}

static __always_inline __u64 python_note(enum python_loss why)
{
	return FRAME_NOTE_OF(NOTE_PYTHON_LOST, why);
}

/* From 3.14 on without a GIL, a thread has a copy of the instructions. */
static __always_inline __u64 python_copied_units(const struct python_process *p, struct python_thread *t,
						 const python_bytes *frame)
{
	__u64 copies = python_word(t->code, p->at.code_tlbc & ~7);
	__u32 i = python_half(*frame, p->at.frame_tlbc);

	return python_read(t, copies + 8 + 8ull * i);
}

/* The number of the instruction that a frame runs, in code units. */
static __always_inline __u32 python_unit(const struct python_process *p, struct python_thread *t,
					 const python_bytes *frame, __u64 code)
{
	__s64 at;

	if (p->at.version < 0x030b) {
		at = (__s32)python_half(*frame, p->at.frame_instr);
		if (p->at.version < 0x030a)
			at >>= 1;
	} else {
		at = python_word(*frame, p->at.frame_instr);
		at -= p->at.code_tlbc ? python_copied_units(p, t, frame) : code + p->at.code_units;
		at >>= 1;
	}
	return at >= 0 && at < FRAME_PYTHON_NOT_BEGUN ? at : FRAME_PYTHON_NOT_BEGUN;
}

/* Reads the frame at t->next, and sets that to the one that called it.  Returns the frame, a note, or
 * PYTHON_SHIM.  Not static: the verifier looks at it once. */
__noinline __u64 python_frame(const struct python_process *p, struct python_thread *t)
{
	const python_bytes *frame;
	__u64 code, size;
	__u32 unit, number;
	bool entry;

	if (!p || !t)	/* never: but the verifier does not know */
		return 0;
	frame = python_frame_bytes(p, t);
	if (!frame)
		return python_note(PYTHON_UNREADABLE);
	t->next = python_word(*frame, p->at.frame_back);
	if (p->at.version >= 0x030c && python_byte(*frame, p->at.frame_owner) >= PYTHON_OWNED_BY_C)
		return PYTHON_SHIM;
	/* the low bits are a tag (3.14) */
	code = python_word(*frame, p->at.frame_code) & ~7ull;
	size = p->code_size;
	if (size > sizeof(t->code) || bpf_probe_read_user(t->code, bounded(size, sizeof(t->code)), (void *)code))
		return python_note(PYTHON_UNREADABLE);
	entry = p->at.version < 0x030b ||
		(p->at.version == 0x030b && python_byte(*frame, p->at.frame_entry));
	unit = python_unit(p, t, frame, code);
	number = python_code(p, t, code);
	return FRAME_PYTHON_OF(number, unit, entry);
}

/* Adds the frames of a thread state.  A frame is kept until it is known whether it is the outermost
 * one of its C function: from 3.12 on a frame of the interpreter follows such a one. */
__noinline int python_walk(const struct python_process *p, struct python_thread *t,
			   struct python_frames *to, __u64 state)
{
	__u64 last = 0, frame;

	if (!p || !t || !to)
		return 0;
	t->end = 0;
	t->next = python_read(t, state + p->at.thread_frame);
	if (p->at.version == 0x030b || p->at.version == 0x030c)
		t->next = python_read(t, t->next + p->at.cframe_frame);
	for (__u32 i = 0; i < PYTHON_STEPS; i++) {
		if (!t->next)
			break;
		frame = python_frame(p, t);
		if (frame == PYTHON_SHIM) {
			if (last)
				last |= FRAME_PYTHON_ENTRY;
			continue;
		}
		if (last && !python_put(t, to, last))
			return 0;
		last = frame;
		if (!(frame & FRAME_PYTHON))
			t->next = 0;
	}
	if (last & FRAME_PYTHON && !t->next)
		last |= FRAME_PYTHON_ENTRY;
	if (last && python_put(t, to, last) && t->next)
		python_put(t, to, python_note(PYTHON_TOO_DEEP));
	return 0;
}

#endif
