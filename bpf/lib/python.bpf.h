/* SPDX-License-Identifier: GPL-2.0 */
/* The calling thread's Python frames, read from the interpreter's own structs.  User space says which
 * processes run Python, and where their interpreter keeps what.
 *
 * The GIL may be released, so what the interpreter calls the current thread is no help: the thread's
 * state is found in the interpreter's list, by pthread_self(), which is the fs base (Linux gives
 * thread ids that are others in a container). */
#ifndef PYTHON_BPF_H
#define PYTHON_BPF_H
#include "lib/python_code.bpf.h"

enum {
	PYTHON_THREADS = 1024,		/* looked at to find the calling one */
	PYTHON_INTERPRETERS = 16,
	PYTHON_TRIES = 3,
	PYTHON_STEPS = 2 * STACK_PYTHON,	/* frames read: those of the interpreter itself, too */
	PYTHON_SHIM = 1,		/* not a frame: the interpreter's own */
	PYTHON_OWNED_BY_C = 3,		/* FRAME_OWNED_BY_CSTACK (3.12, 3.13), _BY_INTERPRETER, and on */
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct thread_struct___python { unsigned long fsbase; };
struct task_struct___python {
	struct thread_struct___python thread;
	unsigned int flags;
	int tgid;
	struct task_struct___python *real_parent, *group_leader;
};
#pragma clang attribute pop

/* Part of a stack; the last one is for a note. */
struct python_frames { __u64 frame[STACK_PYTHON + 1]; };

/* The processes that run Python, by process id. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct python_process);
} python_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct python_thread);
} python_threads SEC(".maps");

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

/* The calling thread's state in an interpreter; 0 if it has none.  t->left: the number of states that may
 * still be looked at. */
__noinline __u64 python_state(const struct python_process *p, struct python_thread *t, __u64 interp)
{
	__u64 state;

	if (!p || !t)
		return 0;
	state = python_read(t, interp + p->at.threads);
	for (__u32 i = 0; i < PYTHON_THREADS; i++) {
		if (!state || !t->left)
			break;
		t->left--;
		/* another thread may have freed it meanwhile */
		if (bpf_probe_read_user(&t->word, sizeof(t->word), (void *)(state + p->at.thread_id))) {
			t->torn = true;
			break;
		}
		if (t->word == t->self)
			return state;
		state = python_read(t, state + p->at.thread_next);
	}
	return 0;
}

/* Looks for the thread in each interpreter, the newest first: a sub-interpreter runs in a thread
 * that runs another one, which made it. */
static __always_inline void python_search(const struct python_process *p, struct python_thread *t,
					  struct python_frames *to, __u64 newest)
{
	__u64 interp = newest, state, next;

	t->left = PYTHON_THREADS;
	t->interp = 0;
	t->torn = false;
	for (__u32 i = 0; i < PYTHON_INTERPRETERS; i++) {
		if (!interp || t->n > STACK_PYTHON)
			break;
		state = python_state(p, t, interp);
		next = python_read(t, interp + p->at.interp_next);
		if (state && !i && !next) {
			t->interp = interp;
			t->state = state;
		}
		if (state)
			python_walk(p, t, to, state);
		interp = next;
	}
	if ((interp || !t->left) && !t->n)
		python_put(t, to, python_note(PYTHON_TOO_MANY));
}

/* Where there is one interpreter only, the thread's state is known from the last time; one without
 * frames may have been freed. */
static __always_inline void python_find(const struct python_process *p, struct python_thread *t,
					struct python_frames *to)
{
	struct task_struct___python *task = (void *)bpf_get_current_task();
	__u64 newest = python_read(t, p->runtime + p->at.interpreters);

	t->self = BPF_CORE_READ(task, thread.fsbase);
	if (newest && newest == t->interp && python_read(t, t->state + p->at.thread_id) == t->self) {
		python_walk(p, t, to, t->state);
		if (t->n)
			return;
	}
	for (int i = 0; i < PYTHON_TRIES; i++) {
		python_search(p, t, to, newest);
		if (t->n || !t->torn)
			return;
	}
	python_put(t, to, python_note(PYTHON_UNREADABLE));
}

enum { FORKED_NO_EXEC = 0x40 };	/* PF_FORKNOEXEC in include/linux/sched.h */

/* A forked process has its parent's interpreter, before user space has heard of it.  NULL if it does not
 * run Python. */
static __noinline const struct python_process *python_here(void)
{
	const struct task_struct___python *task = (void *)bpf_get_current_task();
	__u32 pid = thread_pid();
	const struct python_process *p = bpf_map_lookup_elem(&python_processes, &pid);

	if (p || !(BPF_CORE_READ(task, group_leader, flags) & FORKED_NO_EXEC))
		return p;
	pid = BPF_CORE_READ(task, real_parent, tgid);
	return bpf_map_lookup_elem(&python_processes, &pid);
}

/* Returns how many it has set: at most STACK_PYTHON, and a note. */
__noinline __u32 python_all(struct python_frames *to)
{
	const struct python_process *p = python_here();
	struct python_thread *t;

	if (!p || !to)
		return 0;
	if (p->loss) {
		to->frame[0] = python_note(p->loss);
		return 1;
	}
	t = bpf_task_storage_get(&python_threads, bpf_get_current_task_btf(), NULL,
				 BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		to->frame[0] = python_note(PYTHON_NO_MEMORY);
		return 1;
	}
	t->n = 0;
	python_find(p, t, to);
	return t->n;
}

/* Reads the thread's Python frames into a stack, behind n native ones, at most STACK_NATIVE and a note.
 * Returns the number of all. */
static __always_inline __u32 python_take(__u64 *frames, __u32 n)
{
	__u64 at = bounded(n, STACK_NATIVE + 1);

	return at + bounded(python_all((struct python_frames *)(frames + at)), STACK_PYTHON + 1);
}

#endif
