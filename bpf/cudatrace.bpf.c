// SPDX-License-Identifier: GPL-2.0
/* Records every call of the selected functions: the arguments at its entry, and the result and stored
 * values at its return, in one record.
 *
 * A thread's calls in flight are a stack of frames.  A call inside a shown one gets no record of its own
 * unless nested calls are requested. */
#include <stdbool.h>
#include <linux/types.h>
#include "abi/cudatrace.h"

/* programs make 100,000 calls in 0.2 s, faster than they are printed */
#define RECORDS_BYTES (16 * 1024 * 1024)
#include "lib/frames.bpf.h"
#include "lib/kernel_calls.bpf.h"

/* A call in flight. */
struct frame {
	__u64 start;
	__u32 id;
	__u32 device;		/* at its entry: a call may change it */
	__u16 depth;		/* number of frames below it that count */
	bool counts;		/* calls inside it of the same kind, CUDA or NCCL, are part of it */
	bool nccl;
	bool part;		/* it is part of a frame below */
	bool captured;
	bool first;		/* perhaps the first launch of a kernel: a launch inside is part of it */
	__u8 held;		/* HELD, INNER */
	__u64 words[TRACE_WORDS];
};

/* The call changes held memory, or is inside one that does. */
enum { HELD = 1, INNER = 2 };

enum {
	/* in words of a record's body: the last start of a string, and the size with string and stack */
	BODY = 256,
	BODY_MAX = BODY + TRACE_LONG_STRING / 8 + STACK_FRAMES,
};

struct thread_data {
	struct frames frames;
	struct frame frame[FRAMES];
	struct kernel_calls kernels;	/* those that capture */
};
#define THREAD_DATA struct thread_data

struct task_struct;
struct thread;
struct inflight_call;
static __always_inline bool trace_inflight(const struct task_struct *task, const struct thread *t,
					  struct inflight_call *to);
#define INFLIGHT_TAKE trace_inflight
#include "lib/aggregate_counts.bpf.h"
#include "lib/call_device.bpf.h"
#include "lib/cuda.bpf.h"
#include "lib/processes.bpf.h"
#include "lib/inflight.bpf.h"
#include "lib/launched.bpf.h"
#include "lib/stack.bpf.h"

/* A record being built. */
struct draft {
	struct trace_event event;
	__u64 body[BODY_MAX];	/* follows event in the record */
};
FITS_TASK_STORAGE(struct draft);

/* Per thread, apart from its frames: together they would not fit. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct draft);
} drafts SEC(".maps");

/* Set by the tool. */
const volatile bool trace_nested, trace_failed_only, trace_stacks;
const volatile __u64 trace_slower;	/* ns: only calls that took at least this long */
const volatile bool trace_entries, trace_no_returns;
const volatile bool trace_held;		/* held memory is wanted */
const volatile bool trace_devices;	/* devices are followed */
const volatile bool trace_captures;	/* what is captured is marked */
const volatile bool trace_all_devices;	/* send calls on unwanted devices, too */
const volatile bool trace_aggregate;	/* count the calls, but for the first one of each thread, which is sent */

/* By id; the tool sets the number of entries. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_RDONLY_PROG);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct trace_function);
} functions SEC(".maps");

/* Of functions that are TRACE_PLACED, by id: the arguments that say where a call works. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_RDONLY_PROG);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cuda_args);
} places SEC(".maps");

static __always_inline struct trace_function *function_of(__u64 id)
{
	__u32 key = id;

	return bpf_map_lookup_elem(&functions, &key);
}

/* ---- Calls in flight */

/* Call after changes that trace_inflight() reads; f: a changed frame, or NULL. */
static __always_inline void frames_show(const struct thread *t, const struct frame *f)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();

	if (f) {
		storage_show(&threads, task, f, offsetof(struct frame, words));
		if (!trace_aggregate)	/* for the record of an unfinished call */
			storage_show(&threads, task, f->words, sizeof(f->words));
		storage_show(&threads, task, &t->data.frames.sp[f - t->data.frame], sizeof(t->data.frames.sp[0]));
	}
	ordered();
	storage_show(&threads, task, &t->data.frames.used, sizeof(t->data.frames.used));
}

/* Return true if a call is inside a shown one of the same kind.  NCCL calls CUDA, which does not call NCCL. */
NOINLINE_IN_USER bool is_part(const struct thread *t, bool nccl)
{
	bool part = false;

	for (__u32 i = 0; i < FRAMES; i++)
		part |= i < t->data.frames.used && t->data.frame[i].counts && t->data.frame[i].nccl == nccl;
	return part;
}

/* Adds a frame; NULL if there is no room, or if the call is part of one that gets a record. */
static __always_inline struct frame *push(struct thread *t, __u64 sp, bool nccl)
{
	__u32 depth = 0, device = 0;
	bool part = false;
	__u8 held = 0;
	__u64 used;
	struct frame *f;

	frames_drop_dead(&t->data.frames, sp);
	used = t->data.frames.used;
	if (used && used <= FRAMES) {
		f = &t->data.frame[bounded(used - 1, FRAMES - 1)];
		depth = f->depth + f->counts;
		held = trace_held && f->held ? INNER : 0;
		device = f->device;
	}
	part = depth && is_part(t, nccl);
	if (part && !trace_nested)
		return NULL;
	if (t->data.frames.used < FRAMES)	/* before the frame counts: see trace_inflight() */
		write_ordered(&t->data.frame[bounded(t->data.frames.used, FRAMES - 1)].start, 0);
	used = frames_push(&t->data.frames, sp);
	if (used >= FRAMES) {
		lose(LOST_THREAD);
		return NULL;
	}
	f = &t->data.frame[used];
	f->depth = depth;
	f->nccl = nccl;
	f->part = part;
	f->held = held;
	f->device = device;
	return f;
}

/* ---- Arguments and stored values */

static __always_inline void keep_words(struct frame *f, struct pt_regs *ctx, __u32 words)
{
	__u32 more = words - CALL_REGISTERS;

	CALL_REGISTER_ARGS(ctx, f->words);
	if (words <= CALL_REGISTERS)
		return;
	if (more > TRACE_WORDS - CALL_REGISTERS)
		more = TRACE_WORDS - CALL_REGISTERS;
	if (bpf_probe_read_user(f->words + CALL_REGISTERS, more * 8, (void *)(PT_REGS_SP(ctx) + CALL_STACK)))
		lose(LOST_READ);
}

/* Reads one item into the body at a word; returns its size in bytes. */
static __always_inline __u32 read_one(struct draft *d, __u32 at, const struct trace_read *r,
				      __u64 p, bool names)
{
	__u32 size = r->size;
	long n;

	if (r->how == TRACE_OUT_STRING && p)
		p = read_u64(p);
	if (!p)
		return 0;
	at = bounded(at, BODY - 1);
	if (r->how == TRACE_IN || r->how == TRACE_OUT) {
		if (size > TRACE_VALUE)
			size = TRACE_VALUE;
		n = bpf_probe_read_user(&d->body[at], size, (void *)p);
		if (!n)
			return size;
	} else {
		size = names ? TRACE_LONG_STRING : TRACE_STRING;
		n = bpf_probe_read_user_str(&d->body[at], size, (void *)p);
		if (n > 0)
			return n;
	}
	if (!names)	/* names may not be paged in: the tool reads them again */
		lose(LOST_READ);
	return 0;
}

/* Reads the call's items into the body after the words; returns the word after the last item. */
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

/* ---- Devices */

/* The stream or context of the call. */
static __always_inline __u64 handle_of(struct pt_regs *ctx, const struct frame *f,
				       const struct trace_function *fn)
{
	__u64 place = fn->handle, handle;

	handle = place <= CALL_REGISTERS ? f->words[bounded(place - 1, CALL_REGISTERS - 1)] :
		 read_u64(stack_arg_at(PT_REGS_SP(ctx), place));
	return fn->handle_at ? read_u64(handle + fn->handle_at) : handle;
}

enum { LOCATIONS = 64 };	/* of a batch; the device of more is unknown */

/* The device of a batch whose locations are all the same; 0 of others. */
GLOBAL_SUBPROG __u32 device_of_locations(__u64 at, __u64 n)
{
	__u64 first = n && n <= LOCATIONS ? read_u64(at) : 0;

	for (__u32 i = 1; i < LOCATIONS && i < n; i++)
		if (read_u64(at + 8 * i) != first)
			return 0;
	return device_of_location(first);
}

/* Of a function that is TRACE_PLACED. */
NOINLINE_IN_USER __u32 device_placed(struct pt_regs *ctx, struct thread *t, __u32 id, bool driver)
{
	const struct cuda_args *row = bpf_map_lookup_elem(&places, &id);
	struct call *call = &t->data.kernels.call;
	__u32 ends[2];

	if (!row)
		return 0;
	call->sp = PT_REGS_SP(ctx);
	keep_arguments(call, ctx);
	if (row->locations)
		return device_of_locations(cuda_arg(call, row->location), cuda_arg(call, row->locations));
	if (peers_of_call(call, row, driver, ends))
		return ends[0];
	return device_of_args(&t->device, call, row, row->location ? location_arg(call, row) : 0);
}

/* The device of the call; 0 if unknown.  The stream, which may be on the stack, is read only if it may
 * be of another device than the thread's.  A launch in a stream of another device would fail. */
static __always_inline __u32 device_of(struct pt_regs *ctx, struct thread *t, const struct frame *f,
				       const struct trace_function *fn)
{
	__u32 here = device_here(&t->device), device;
	__u64 role = fn->role - 1;

	if (fn->flags & TRACE_PLACED)
		return device_placed(ctx, t, f->id, !(fn->flags & TRACE_RUNTIME));
	device_is_current(&t->device);
	if (!fn->handle || !(t->device.others || t->device.late))
		return here;
	device = device_in(&t->device, handle_of(ctx, f, fn));
	if (device || role >= CUDA_ID_MAX)
		return device;
	return cuda_classes[bounded(role, CUDA_ID_MAX - 1)] == CUDA_LAUNCH ? here : 0;
}

/* Call at every entry.  Returns true if the return is wanted to follow devices. */
static __always_inline bool follow_device(struct pt_regs *ctx, struct thread *t,
					  const struct trace_function *fn)
{
	__u64 role = fn->role - 1;

	return trace_devices && role < CUDA_ID_MAX &&
	       device_enter(ctx, &t->device, bounded(role, CUDA_ID_MAX - 1));
}

/* ---- Captures */

/* The role of a function that captures; CUDA_ID_MAX if it does not. */
static __always_inline __u64 capturing_role(const struct trace_function *fn)
{
	__u64 role = fn->role - 1;
	__u32 class, op;

	if (role >= CUDA_ID_MAX)
		return CUDA_ID_MAX;
	role = bounded(role, CUDA_ID_MAX - 1);
	class = cuda_classes[role];
	op = cuda_rows[role].op;
	return class == CUDA_EVENT || (class == CUDA_GRAPH && op >= CUDA_BEGIN && op <= CUDA_END) ? role : CUDA_ID_MAX;
}

/* Call at every entry.  Returns true if the return is wanted to follow captures. */
NOINLINE_IN_USER bool follow_capture(struct pt_regs *ctx, struct thread *t, const struct trace_function *fn)
{
	__u64 role = capturing_role(fn);
	__u32 pid = thread_pid();
	bool first;

	if (role >= CUDA_ID_MAX || (cuda_classes[bounded(role, CUDA_ID_MAX - 1)] == CUDA_EVENT && !captures_any()))
		return false;
	return process_known(t, pid, &first) &&
	       kernel_call_enter(ctx, &t->data.kernels, bounded(role, CUDA_ID_MAX - 1), pid, t->program);
}

/* Call at the return of such a call. */
NOINLINE_IN_USER void leave_capture(struct pt_regs *ctx, struct thread *t)
{
	__u32 pid = thread_pid();
	bool first;

	if (process_known(t, pid, &first))
		kernel_call_leave(ctx, &t->data.kernels, pid, t->program, NULL);
}

/* Return true if the call that is entered is part of a graph. */
COLD_IN_USER bool is_captured(struct pt_regs *ctx, struct thread *t, const struct trace_function *fn)
{
	const __u32 classes = STREAM_CLASSES | 1u << CUDA_ALLOC | 1u << CUDA_FREE | 1u << CUDA_OPERATION | CUDA_GRAPH_CLASSES;
	__u64 role = fn->role - 1;
	struct call *call = &t->data.kernels.call;
	bool first;

	if (role >= CUDA_ID_MAX || !process_known(t, thread_pid(), &first))
		return false;
	role = bounded(role, CUDA_ID_MAX - 1);
	if (!(classes & 1u << cuda_classes[role]) || (cuda_classes[role] == CUDA_GRAPH && cuda_rows[role].op != CUDA_HOST_CALL))
		return false;
	call->sp = PT_REGS_SP(ctx);
	keep_arguments(call, ctx);
	return capture_of(t->program, stream_in(call, role));
}

/* ---- Records */

static __always_inline bool is_failure(const struct trace_function *fn, __u32 ret)
{
	return fn->flags & TRACE_ERROR && ret && ret != fn->pending;
}

struct sent {
	enum trace_what what;
	bool stack;
	__u64 sp;		/* of TRACE_ENTER: the stack pointer at the entry; else 0 */
	__u64 ret;
};

/* Sends a frame's record. */
NOINLINE_IN_USER void send(void *ctx, struct thread *t, const struct trace_function *fn, const struct frame *f, const struct sent *s)
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
	e->ret = s->ret;
	e->head.pid = ids >> 32;
	e->head.kind = s->what;
	e->tid = ids;
	e->id = fn->id;
	e->device = f->device;
	e->depth = f->depth;
	e->part = f->part;
	e->inner = trace_held && f->held & INNER;
	e->captured = f->captured && !(s->what == TRACE_CALL && is_failure(fn, s->ret));
	e->words = n <= TRACE_WORDS ? n : TRACE_WORDS;
	thread_comm(e->comm);
	for (__u32 i = 0; i < TRACE_WORDS; i++)
		d->body[i] = f->words[i];
	at = s->what == TRACE_UNFINISHED ? e->words :	/* its memory is gone */
	     read_all(d, fn, f, s->what == TRACE_CALL && !is_failure(fn, s->ret));
	at = bounded(at, BODY_MAX - STACK_FRAMES);
	e->head.frames = s->stack ? stack_take(ctx, &d->body[at], s->sp) : 0;
	size = bounded(sizeof(*e) + (at + e->head.frames) * 8, sizeof(*e) + sizeof(d->body));
	if (process_known(t, e->head.pid, &first))
		records_send(e, size, first);
}

/* ---- First launches */

/* The argument of a launch that is the kernel, in a frame or at the entry: one of the first ones. */
static __always_inline __u64 launched_by(const __u64 *words, const struct trace_function *fn)
{
	__u64 role = fn->role - 1, place;

	if (role >= CUDA_ID_MAX)
		return 0;
	place = cuda_rows[bounded(role, CUDA_ID_MAX - 1)].func - 1;
	return place < 4 ? words[bounded(place, 3)] : 0;
}

static __always_inline bool in_first(const struct thread *t)
{
	bool in = false;

	for (__u32 i = 0; i < FRAMES; i++)
		in |= i < t->data.frames.used && t->data.frame[i].first;
	return in;
}

/* Return true if the launch that is entered may be the first one of its kernel.  The driver's launch inside the runtime's is
 * part of that. */
NOINLINE_IN_USER bool may_be_first(struct pt_regs *ctx, struct thread *t, const struct trace_function *fn)
{
	const __u64 words[] = { PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx), PT_REGS_PARM4(ctx) };
	__u64 func = launched_by(words, fn);

	frames_drop_dead(&t->data.frames, PT_REGS_SP(ctx));
	if (!in_first(t))
		return !launched_has(func);
	launched_add(func);
	return false;
}

/* ---- Which calls are recorded */

/* Return true if the call is on a wanted device. */
static __always_inline bool is_on_device(const struct frame *f)
{
	return !device_config.only || device_config.only & device_bit(f->device);
}

/* Call once for each call.  Returns true if it is on a wanted device, or its record is needed for
 * others. */
static __always_inline bool is_sent(const struct trace_function *fn, const struct frame *f)
{
	if (!trace_devices || !(fn->flags & TRACE_SHOWN))
		return true;
	return device_wanted(f->device) || trace_all_devices || fn->flags & TRACE_ALWAYS;
}

/* ---- Calls that are counted: only their numbers and times are wanted */

/* From the first call, user space knows the process.  In the copies that trace_exit() has with --attach inject no program is
 * known: an unfinished call is sent. */
static __always_inline bool is_counted(const struct thread *t)
{
	return trace_aggregate && t->program;
}

GLOBAL_SUBPROG int count(__u32 id, __u32 device, __u64 ns, bool failed)
{
	struct aggregate_key key = aggregate_key(id);

	key.series = failed ? TRACE_FAILED : TRACE_SUCCEEDED;
	key.device = device;
	aggregate_add(&key, ns, 0, ns, false);
	return 0;
}

static __always_inline void count_call(const struct trace_function *fn, const struct frame *f, bool failed)
{
	__u64 ns = bpf_ktime_get_ns() - f->start;

	if (!(fn->flags & TRACE_SHOWN) || (trace_failed_only && !failed) || ns < trace_slower)
		return;
	if (!trace_devices || device_wanted(f->device))
		count(fn->id, f->device, ns, failed);
}

/* Returns true if the return is wanted. */
static __always_inline bool enter_call(struct pt_regs *ctx, struct thread *t,
				       const struct trace_function *fn, __u64 id)
{
	const bool first = fn->flags & TRACE_FIRST;
	struct frame *f;

	if (fn->flags & TRACE_UNLOADS)
		launched_unloads();
	if (first && !may_be_first(ctx, t, fn))
		return false;
	f = push(t, PT_REGS_SP(ctx), fn->flags & TRACE_NCCL);
	if (!f) {
		frames_show(t, NULL);
		return false;
	}
	f->id = id;
	f->first = first;
	f->counts = fn->flags & TRACE_SHOWN || (fn->flags & TRACE_HIDES && !trace_nested);
	if (trace_held && fn->flags & TRACE_HELD)
		f->held |= HELD;
	f->captured = trace_captures && captures_any() && is_captured(ctx, t, fn);
	keep_words(f, ctx, fn->words);
	if (trace_devices)
		f->device = device_of(ctx, t, f, fn) ?: f->device;
	write_ordered(&f->start, bpf_ktime_get_ns());	/* trace_inflight() reads it first */
	if (trace_entries && fn->flags & TRACE_SHOWN && is_on_device(f))
		send(ctx, t, fn, f, &(struct sent){
			.what = TRACE_ENTER, .stack = trace_no_returns && trace_stacks, .sp = PT_REGS_SP(ctx) });
	if (trace_no_returns)
		t->data.frames.used = 0;
	frames_show(t, f);
	return !trace_no_returns;
}

static __always_inline bool enter(struct pt_regs *ctx)
{
	__u64 id = probe_cookie(ctx);
	struct trace_function *fn = function_of(id);
	struct thread *t = fn && (trace_devices || task_wanted()) ? thread_at(ctx) : NULL;
	bool ours, wanted = false;

	if (!t)
		return false;
	ours = !trace_devices || task_wanted();	/* unwanted threads create streams, too */
	if (ours && !(fn->flags & TRACE_HELPER))
		wanted = enter_call(ctx, t, fn, id);
	wanted |= follow_device(ctx, t, fn);
	wanted |= ours && trace_captures && follow_capture(ctx, t, fn);
	return wanted;
}

/* The stack pointer at the entry of the thread's outermost runtime function in flight; 0: none. */
static __always_inline __u64 runtime_in_flight(const struct thread *t)
{
	for (__u32 i = 0; i < FRAMES && i < t->data.frames.used; i++) {
		struct trace_function *fn = function_of(t->data.frame[i].id);

		if (fn && fn->flags & TRACE_RUNTIME)
			return t->data.frames.sp[i];
		if (fn && !(fn->flags & TRACE_NCCL))
			return 0;
	}
	return 0;
}

/* Sends the record of a call that ends, if it is wanted. */
NOINLINE_IN_USER void leave_call(struct pt_regs *ctx, struct thread *t, const struct trace_function *fn, const struct frame *f, bool failed)
{
	if (trace_failed_only && !(fn->flags & TRACE_ALWAYS) && !failed)
		return;
	if (trace_slower && !(fn->flags & TRACE_ALWAYS) && bpf_ktime_get_ns() - f->start < trace_slower)
		return;
	if (is_sent(fn, f))
		send(ctx, t, fn, f, &(struct sent){ .what = TRACE_CALL, .stack = trace_stacks, .ret = PT_REGS_RC(ctx) });
}

static __always_inline void leave(struct pt_regs *ctx)
{
	struct thread *t = thread_known();
	struct trace_function *fn;
	struct frame *f;
	bool failed;
	__u64 at;

	if (trace_devices && t && device_ends(ctx, &t->device))
		device_leave(ctx, &t->device, runtime_in_flight(t));
	if (trace_captures && t && kernel_call_ends(ctx, &t->data.kernels))
		leave_capture(ctx, t);
	at = t ? frames_pop(&t->data.frames, ctx) : FRAMES;

	if (!t || at >= FRAMES)
		return;
	frames_show(t, NULL);
	f = &t->data.frame[at];
	fn = function_of(f->id);
	if (!fn || (fn->flags & (TRACE_HIDES | TRACE_HELD)) == TRACE_HIDES)
		return;
	failed = is_failure(fn, PT_REGS_RC(ctx));
	if (f->first && !failed)
		launched_add(launched_by(f->words, fn));
	if (is_counted(t))
		count_call(fn, f, failed);
	else
		leave_call(ctx, t, fn, f, failed);
}

/* The thread's outermost shown call, on a wanted device or on an unknown one.  start is set when the
 * frame is complete. */
static __always_inline bool trace_inflight(const struct task_struct *task, const struct thread *t,
					  struct inflight_call *to)
{
	const __u32 used = *(volatile __u32 *)&t->data.frames.used;

	(void)task;
	ordered();
	for (__u32 i = 0; i < FRAMES && i < used; i++) {
		const struct frame *f = &t->data.frame[i];
		struct trace_function *fn;

		to->start = *(volatile __u64 *)&f->start;
		ordered();
		fn = function_of(f->id);
		if (!fn || !(fn->flags & TRACE_SHOWN) || !to->start)
			continue;
		if (f->device && !is_on_device(f))
			continue;
		to->id = fn->id;
		to->device = f->device;
		to->stack.from = t->data.frames.sp[i];
		return true;
	}
	return false;
}

/* ---- Attach points */

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

/* 1 at an entry: does not arm the return */
SEC("uprobe") int cuda_session(struct pt_regs *ctx)
{
	if (!session_returns(ctx))
		return !enter(ctx);
	leave(ctx);
	return 0;
}

SEC("raw_tp/sched_process_exit") int trace_exit(void *ctx)
{
	struct thread *t = thread_known();

	for (__u32 i = 0; t && i < FRAMES; i++) {
		struct frame *f = &t->data.frame[i];
		struct trace_function *fn = i < t->data.frames.used ? function_of(f->id) : NULL;

		if (fn && is_counted(t))
			count_call(fn, f, false);
		else if (fn && fn->flags & TRACE_SHOWN && !trace_failed_only && is_sent(fn, f))
			send(ctx, t, fn, f, &(struct sent){ .what = TRACE_UNFINISHED });
	}
	process_exited();
	return 0;
}

SEC("raw_tp/sched_process_exec") int trace_exec(void *ctx)
{
	struct thread *t = thread_known();

	if (t) {
		t->data.frames.used = 0;
		kernel_calls_dropped(&t->data.kernels);
		device_dropped(&t->device);
	}
	handles_dropped();
	process_execed(t, true);
	return 0;
}

/* A child has the same kernels at the same addresses. */
SEC("raw_tp/sched_process_fork") int trace_fork(struct bpf_raw_tracepoint_args *ctx)
{
	process_forked(ctx);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
