// SPDX-License-Identifier: GPL-2.0
/* Every call of the functions that were asked for: its arguments as they were at its entry, at
 * its return its result and what it stored, in one record.
 *
 * A thread's calls under way are a stack of frames.  A call inside one that is shown is no
 * record of its own, unless nested ones are asked for. */
#include <stdbool.h>
#include <linux/types.h>
#include "abi/cudatrace.h"

struct call_data {};

/* A call under way. */
struct frame {
	__u64 sp;		/* at its entry */
	__u64 start;
	__u64 words[TRACE_WORDS];
	__u32 id;
	__u16 depth;		/* frames below it that count */
	bool counts;		/* calls inside are part of it */
};

enum {
	FRAMES = 8,
	/* of a record's body in words: where the last string may begin, and what may follow */
	BODY = 256,
	BODY_MAX = BODY + TRACE_LONG_STRING / 8 + TRACE_STACK,
};

struct thread_data {
	bool known;		/* its process is in processes */
	__u32 used;		/* frames */
	struct frame frames[FRAMES];
};

#include "lib/cuda.bpf.h"
#include "lib/processes.bpf.h"
/* a program may make 100,000 calls in a fifth of a second, faster than they are printed */
#define RECORDS_BYTES (16 * 1024 * 1024)
#include "lib/records.bpf.h"

/* A record in the making. */
struct draft {
	struct trace_event event;
	__u64 body[BODY_MAX];	/* follows event in the record */
};
FITS_TASK_STORAGE(struct draft);

/* Of each thread, and apart from its frames: together they would not fit. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct draft);
} drafts SEC(".maps");

/* Set by the tool. */
const volatile bool trace_nested, trace_failed_only, trace_stacks;
const volatile bool trace_entries, trace_no_returns;

/* By id; the tool sets the number of entries. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trace_function);
} functions SEC(".maps");

static __always_inline struct trace_function *function_of(__u64 id)
{
	__u32 key = id;

	return bpf_map_lookup_elem(&functions, &key);
}

static __always_inline bool is_failure(const struct trace_function *fn, __u32 ret)
{
	return fn->flags & TRACE_ERROR && ret && ret != TRACE_NOT_READY;
}

static __always_inline long read_string(void *to, __u64 at, bool names)
{
	__u32 room = names ? TRACE_LONG_STRING : TRACE_STRING;

	return bpf_probe_read_user_str(to, room, (void *)at);
}

/* One thing into the body at a word; how many bytes it has. */
static __always_inline __u32 read_one(struct draft *d, __u32 at, const struct trace_read *r,
				      __u64 p, bool names)
{
	__u32 size = r->size;
	long n;

	if (r->how == TRACE_OUT_STRING && p)
		p = read_u64(p);
	if (!p)
		return 0;
	barrier_var(at);	/* else the mask is optimised away, and the verifier misses it */
	at &= BODY - 1;
	if (r->how == TRACE_IN || r->how == TRACE_OUT) {
		if (size > TRACE_VALUE)
			size = TRACE_VALUE;
		n = bpf_probe_read_user(&d->body[at], size, (void *)p);
		if (!n)
			return size;
	} else {
		n = read_string(&d->body[at], p, names);
		if (n > 0)
			return n;
	}
	if (!names)	/* of those the reader tries again: they may not be paged in */
		lose(LOST_READ);
	return 0;
}

/* What belongs to the call, into the body from a word on: the word behind it. */
static __noinline __u64 read_all(struct draft *d, const struct trace_function *fn,
				 const struct frame *f, bool succeeded)
{
	struct trace_event *e = &d->event;
	__u32 n = fn->nreads;
	__u64 at = e->words;

	for (__u32 i = 0; i < TRACE_READS; i++) {
		const struct trace_read *r = &fn->reads[i];
		__u32 word = r->word;

		e->read[i] = 0;
		if (i >= n || at >= BODY || word >= TRACE_WORDS)
			continue;
		if (r->how == TRACE_IN || r->how == TRACE_IN_STRING)
			e->read[i] = read_one(d, at, r, f->words[word], fn->flags & TRACE_NAMES);
		else if (succeeded)
			e->read[i] = read_one(d, at, r, r->how == TRACE_RETURN_STRING ? e->ret :
					      f->words[word], fn->flags & TRACE_NAMES);
		at += (e->read[i] + 7) / 8;
	}
	return at;
}

/* The user's call stack, from the caller on, into the body: how many frames.  At an entry the
 * kernel (without the function itself: 1) leaves out the caller, if the probe is not at the
 * function's first instruction. */
static __always_inline __u32 read_stack(void *ctx, struct draft *d, __u64 at,
					const struct frame *entry)
{
	__u64 *stack = &d->body[at];
	long n;

	if (!entry) {
		n = bpf_get_stack(ctx, stack, TRACE_STACK * 8, BPF_F_USER_STACK);
		return n > 0 ? (__u64)n / 8 : 0;
	}
	n = bpf_get_stack(ctx, stack + 1, (TRACE_STACK - 1) * 8, BPF_F_USER_STACK | 1);
	stack[0] = read_u64(entry->sp);
	if (n > 0 && stack[1] == stack[0])
		stack[0] = 0;
	return n > 0 ? (__u64)n / 8 + 1 : 1;
}

/* The record of a frame, as one of what. */
static __always_inline void send(void *ctx, struct thread *t, const struct trace_function *fn,
				 const struct frame *f, enum trace_what what, __u64 ret, bool stack)
{
	struct draft *d = bpf_task_storage_get(&drafts, bpf_get_current_task_btf(), NULL,
					       BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u64 ids = bpf_get_current_pid_tgid(), at, size;
	struct trace_event *e = &d->event;
	__u32 n = fn->words;
	bool first;

	if (!d) {
		lose(LOST_THREAD);
		return;
	}
	e->time = bpf_ktime_get_ns();
	e->start = f->start;
	e->ret = ret;
	e->pid = ids >> 32;
	e->tid = ids;
	e->id = f->id;
	e->what = what;
	e->depth = f->depth;
	e->words = n <= TRACE_WORDS ? n : TRACE_WORDS;
	thread_comm(e->comm);
	for (__u32 i = 0; i < TRACE_WORDS; i++)
		d->body[i] = f->words[i];
	at = what == TRACE_LEFT ? e->words :	/* its memory is gone */
	     read_all(d, fn, f, what == TRACE_CALL && !is_failure(fn, ret));
	barrier_var(at);
	if (at > BODY_MAX - TRACE_STACK)
		at = BODY_MAX - TRACE_STACK;
	e->frames = stack ? read_stack(ctx, d, at, what == TRACE_ENTER ? f : NULL) : 0;
	size = sizeof(*e) + (at + e->frames) * 8;
	barrier_var(size);	/* the verifier wants the value that is used to be the one checked */
	if (size > sizeof(*e) + sizeof(d->body))
		return;
	first = process_is_new(&t->data.known, e->pid);
	if (bpf_ringbuf_output(&events, e, size, records_wakeup(first)))
		lose(LOST_RECORD);
}

/* Takes out the frames of calls that never returned. */
static __always_inline void drop_dead(struct thread *t, __u64 sp)
{
	for (int i = 0; i < FRAMES; i++) {
		__u32 top = t->data.used - 1;

		if (top >= FRAMES)
			break;
		/* the same stack: that function jumped to this one at its end */
		if (sp <= t->data.frames[top].sp && is_armed(t->data.frames[top].sp))
			break;
		lose(LOST_RETURN);
		t->data.used = top;
	}
}

/* A new frame; NULL if there is no room, or if it is part of another one that is enough. */
static __always_inline struct frame *push(struct thread *t, __u64 sp)
{
	__u32 used, depth = 0;
	struct frame *f;

	drop_dead(t, sp);
	used = t->data.used;
	if (used && used <= FRAMES) {
		f = &t->data.frames[used - 1];
		depth = f->depth + f->counts;
	}
	if (depth && !trace_nested)
		return NULL;
	if (used >= FRAMES) {
		lose(LOST_THREAD);
		return NULL;
	}
	f = &t->data.frames[used];
	f->sp = sp;
	f->depth = depth;
	t->data.used = used + 1;
	return f;
}

static __always_inline void keep_words(struct frame *f, struct pt_regs *ctx, __u32 words)
{
	__u32 more = words - 6;

	f->words[0] = PT_REGS_PARM1(ctx);
	f->words[1] = PT_REGS_PARM2(ctx);
	f->words[2] = PT_REGS_PARM3(ctx);
	f->words[3] = PT_REGS_PARM4(ctx);
	f->words[4] = PT_REGS_PARM5(ctx);
	f->words[5] = ctx->r9;
	if (words <= 6)
		return;
	if (more > TRACE_WORDS - 6)
		more = TRACE_WORDS - 6;
	if (bpf_probe_read_user(f->words + 6, more * 8, (void *)(f->sp + 8)))
		lose(LOST_READ);
}

static __always_inline bool enter(struct pt_regs *ctx)
{
	__u64 id = bpf_get_attach_cookie(ctx);
	struct trace_function *fn = function_of(id);
	struct thread *t = fn ? thread_here() : NULL;
	struct frame *f;

	if (!t)
		return false;
	f = push(t, PT_REGS_SP(ctx));
	if (!f)
		return false;
	f->id = id;
	f->counts = fn->flags & TRACE_SHOWN || (fn->flags & TRACE_HIDES && !trace_nested);
	keep_words(f, ctx, fn->words);
	f->start = bpf_ktime_get_ns();
	if (trace_entries && fn->flags & TRACE_SHOWN)
		send(ctx, t, fn, f, TRACE_ENTER, 0, trace_no_returns && trace_stacks);
	if (trace_no_returns)
		t->data.used = 0;
	return !trace_no_returns;
}

/* Takes out the frame that returns here, and those above it, which never did; NULL if there is
 * none. */
static __always_inline struct frame *pop(struct pt_regs *ctx, struct thread *t)
{
	for (__u32 i = 0; i < FRAMES; i++) {
		__u32 top = t->data.used - 1 - i;
		struct frame *f;

		if (top >= FRAMES)
			break;
		f = &t->data.frames[top];
		/* the return has popped the return address */
		if (f->sp + 8 != PT_REGS_SP(ctx))
			continue;
		t->data.used = top;
		__sync_fetch_and_add(&lost[LOST_RETURN], i);
		return f;
	}
	return NULL;
}

static __always_inline void leave(struct pt_regs *ctx)
{
	struct thread *t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL, 0);
	struct frame *f = t ? pop(ctx, t) : NULL;
	struct trace_function *fn = f ? function_of(f->id) : NULL;

	if (!fn || fn->flags & TRACE_HIDES)
		return;
	if (trace_failed_only && !(fn->flags & TRACE_ALWAYS) && !is_failure(fn, PT_REGS_RC(ctx)))
		return;
	send(ctx, t, fn, f, TRACE_CALL, PT_REGS_RC(ctx), trace_stacks);
}

SEC("uprobe") int cuda_enter(struct pt_regs *ctx)
{
	enter(ctx);
	return 0;
}

SEC("uprobe") int cuda_return(struct pt_regs *ctx)
{
	leave(ctx);
	return 0;
}

/* 1 from an entry: do not arm the return */
SEC("uprobe") int cuda_session(struct pt_regs *ctx)
{
	if (!session_returns(ctx))
		return !enter(ctx);
	leave(ctx);
	return 0;
}

static __always_inline void send_process(enum trace_what what, __u32 pid, __u64 ret)
{
	struct trace_event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		lose(LOST_PROCESS);
		return;
	}
	__builtin_memset(e, 0, sizeof(*e));
	e->time = e->start = bpf_ktime_get_ns();
	e->what = what;
	e->pid = pid;
	e->tid = bpf_get_current_pid_tgid();
	e->ret = ret;
	thread_comm(e->comm);
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
}

SEC("raw_tp/sched_process_exit") int trace_exit(void *ctx)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct thread *t;

	t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL, 0);
	for (__u32 i = 0; t && i < FRAMES; i++) {
		struct frame *f = &t->data.frames[i];
		struct trace_function *fn = i < t->data.used ? function_of(f->id) : NULL;

		if (fn && fn->flags & TRACE_SHOWN && !trace_failed_only)
			send(ctx, t, fn, f, TRACE_LEFT, 0, false);
	}
	if (process_ends() && !bpf_map_delete_elem(&processes, &pid))
		send_process(TRACE_EXIT, pid, 0);
	return 0;
}

SEC("raw_tp/sched_process_exec") int trace_exec(void *ctx)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct thread *t;

	t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL, 0);
	if (t)
		t->data.used = 0;
	if (bpf_map_lookup_elem(&processes, &pid))
		send_process(TRACE_EXEC, pid, 0);
	return 0;
}

/* In the parent, before the child runs: it has the same kernels at the same places. */
SEC("raw_tp/sched_process_fork") int trace_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *child = (void *)ctx->args[1];
	__u32 parent = bpf_get_current_pid_tgid() >> 32, pid = BPF_CORE_READ(child, tgid);
	char yes = 1;

	if (pid == parent || !bpf_map_lookup_elem(&processes, &parent))
		return 0;
	if (bpf_map_update_elem(&processes, &pid, &yes, BPF_ANY))
		lose(LOST_PROCESS);
	else
		send_process(TRACE_FORK, parent, pid);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
