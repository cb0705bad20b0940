/* SPDX-License-Identifier: GPL-2.0 */
/* The calling thread's Python frames, read from the interpreter's own structs.  User space says which
 * processes run Python, and where their interpreter keeps what.
 *
 * The GIL may be released, so what the interpreter calls the current thread is no help: the thread's
 * state is found in the interpreter's list, by pthread_self(), which is the fs base (Linux gives
 * thread ids that are others in a container). */
#ifndef PYTHON_BPF_H
#define PYTHON_BPF_H
#include "lib/python_frame.bpf.h"

enum {
	PYTHON_THREADS = 1024,		/* looked at to find the calling one */
	PYTHON_INTERPRETERS = 16,
	PYTHON_TRIES = 3,
};

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
	__u64 newest = python_read(t, p->runtime + p->at.interpreters);

	t->self = thread_self();
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

/* A forked process has its parent's interpreter, before user space has heard of it.  NULL if it does not
 * run Python. */
static __noinline const struct python_process *python_here(void)
{
	__u32 pid = thread_pid();
	const struct python_process *p;

	if (PROCESS_PYTHON)
		return process_python();
	p = bpf_map_lookup_elem(&python_processes, &pid);
	if (p)
		return p;
	pid = process_copied();
	return pid ? bpf_map_lookup_elem(&python_processes, &pid) : NULL;
}

/* Returns how many it has set: at most STACK_PYTHON, and a note.  None if the process does not run Python, as far
 * as user space knows yet. */
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
	if (!t->n)
		python_put(t, to, python_note(PYTHON_NO_FRAMES));
	return t->n;
}

/* Reads the thread's Python frames into a stack, behind n native ones, at most STACK_NATIVE and a note.
 * Returns the number of all. */
static __always_inline __u32 python_take(__u64 *frames, __u32 n)
{
	__u64 at = bounded(n, STACK_NATIVE + 1);
	__u64 got = bounded(python_all((struct python_frames *)(frames + at)), STACK_PYTHON + 1);

	if (at || got)
		return at + got;
	frames[0] = python_note(PYTHON_NOT_YET);	/* user space drops it where there is no Python */
	return 1;
}

#endif
