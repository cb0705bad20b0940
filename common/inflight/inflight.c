/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/device.h"
#include "abi/agent_inject.h"
#include "abi/python_frames.h"
#include "abi/record.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "bpf/map_backend.h"
#include "machine/call.h"
#include "machine/stub_registers.h"
#include "inflight/inflight.h"
#include "model/memory.h"
#include "probe/probe_source.h"
#include "probe/probes.h"
#include "proc/proc.h"
#include "proc/process_table.h"
#include "proc/privileges.h"
#include "proc/vm_read.h"
#include "sym/export_jump.h"
#include "sym/stack.h"
#include "sym/stack_losses.h"
#include "sym/syms.h"

/* A call as it was read; user: who has 1 of the quota taken for it. */
struct inflight_taken {
	struct inflight_call call;
	unsigned user;
};

/* Warnings of calls in flight that are not shown. */

static void tell_unknown(struct inflight *r)
{
	if (r->unknown <= r->told || !r->begun)
		return;
	r->told = r->unknown;
	warning(0, "left out %zu call%s in flight whose device is not known", r->told, plural(r->told));
}

/* Such processes are mostly all that there are: one message for the first. */
static void tell_forbidden(struct inflight *r)
{
	char *why = r->forbidden && !r->told_forbidden ? privilege_missing(PRIVILEGE_MEMORY) : NULL;

	if (!why)
		return;
	r->told_forbidden = true;
	warning(0, "cannot read stacks of process %d, calls already in flight may be missing: %s",
		r->forbidden, why);
	free(why);
}

/* Call after each round: warns of what is new in it. */
static void inflight_tell(struct inflight *r)
{
	tell_unknown(r);
	tell_forbidden(r);
}

/* The registers of threads, with --attach inject: the kernel does not report them. */

/* Completes a call: the registers of the function's caller.  Return false if the thread has left the call. */
static bool inflight_shared(struct inflight *r, struct inflight_call *c)
{
	unsigned long long from = c->stack.from, end = from + CALL_POPS;
	struct stub_frame *f;
	bool in = false;

	f = vm_read_bytes(r->probes->helpers, c->stack.head.pid, end - sizeof(*f), sizeof(*f));
	if (f && f->mark == (INJECT_STUB_MAGIC ^ from)) {
		in = true;
		stub_registers(f, c->stack.regs);
		c->stack.regs[UNWIND_SP] = end;
	}
	free(f);
	return in;
}

/* Calls that were entered before tracing began: found on the threads' stacks. */

enum { STACK_BYTES = 64 << 10 };	/* of a thread's stack that are read */

/* Symbols of its own: the tool may want no stacks, or unwind by frame pointers. */
static struct syms *syms_of(struct inflight *r)
{
	const struct stack_config config = { .dwarf = true, .native = true, .python = r->stacks && r->frames.python };

	if (r->syms)
		return r->syms;
	r->syms = syms_new(r->probes->helpers, &config, NULL);
	syms_open(r->syms, NULL);
	if (r->lines)
		syms_show_lines(r->syms);
	return r->syms;
}

/* Reads the thread's stack to behind copy, which has room for STACK_BYTES; returns how many bytes. */
static size_t stack_bytes(struct inflight *r, struct stack_copy *copy)
{
	unsigned long long at = copy->regs[UNWIND_SP];
	size_t most = STACK_BYTES - at % UNWIND_PAGE;
	size_t size = vm_read_some(r->probes->helpers, copy->head.pid, at, copy + 1, most);

	if (!size && vm_read_forbidden(r->probes->helpers, copy->head.pid))
		r->forbidden = copy->head.pid;
	copy->looked = (at % UNWIND_PAGE + size + UNWIND_PAGE - 1) / UNWIND_PAGE;
	copy->present = (1ull << copy->looked) - 1;
	copy->cut = size == most;
	return size;
}

/* A thread's frames as they were read: what stack_get() takes, and its native part and its Python part. */
struct thread_frames {
	int pid, native, n;	/* n: with Python frames */
	unsigned long long at[1 + STACK_NATIVE + 1 + STACK_PYTHON + 1];
};

/* Return false if it cannot be had: no_native() has the reason. */
static bool read_native(struct inflight *r, const struct inflight_call *c, struct thread_frames *to)
{
	struct stack_copy *copy;
	size_t size;

	if (clock_ns() > r->until)
		return false;
	copy = xcalloc(1, sizeof(*copy) + STACK_BYTES);
	*copy = c->stack;
	copy->id = ++r->copies & FRAME_VALUE_MASK;
	copy->head.kind = RECORD_STACK;
	size = stack_bytes(r, copy);
	if ((int)copy->head.pid != r->mapped)	/* they may have changed: no mmap event reaches these symbols */
		syms_changed(syms_of(r), copy->head.pid);
	r->mapped = copy->head.pid;
	syms_record(syms_of(r), copy, sizeof(*copy) + size);
	to->pid = copy->head.pid;
	to->at[0] = FRAME_NOTE_OF(NOTE_COPIED, copy->id);
	to->native = to->n = 1 + syms_goroutine(syms_of(r), to->pid, c->self, to->at + 1);
	free(copy);
	return size;
}

static const struct stack *no_native(struct inflight *r, const struct inflight_call *c)
{
	enum no_stack why = NO_STACK_GONE;

	if (clock_ns() > r->until)
		why = NO_STACK_TIME;
	else if (vm_read_forbidden(r->probes->helpers, c->stack.head.pid))
		why = NO_STACK_FORBIDDEN;
	return stack_missing(r->syms, why);
}

static void read_python(struct inflight *r, const struct inflight_call *c, struct thread_frames *to)
{
	to->n = to->native + syms_python(syms_of(r), to->pid, c->self, to->at + to->native);
}

/* Without Python frames, and without a note that there are none. */
static const struct stack *native_stack(struct inflight *r, const struct thread_frames *frames)
{
	unsigned long long at[1 + STACK_NATIVE + 2];

	memcpy(at, frames->at, frames->native * sizeof(*at));
	at[frames->native] = FRAME_NOTE_OF(NOTE_PYTHON_LOST, PYTHON_NO_FRAMES);
	return stack_get(r->syms, frames->pid, at, frames->native + 1);
}

/* The frames that rows have. */
static const struct stack *wanted_stack(struct inflight *r, const struct thread_frames *frames)
{
	if (r->frames.native)
		return stack_get(r->syms, frames->pid, frames->at, frames->n);
	if (frames->n == frames->native)
		return stack_missing(r->syms, NO_STACK_PYTHON);
	return stack_get(r->syms, frames->pid, frames->at + frames->native, frames->n - frames->native);
}

static const struct stack *inflight_stack(struct inflight *r, const struct inflight_call *c)
{
	struct thread_frames frames;

	if (!read_native(r, c, &frames))
		return no_native(r, c);
	read_python(r, c, &frames);
	return wanted_stack(r, &frames);
}

/* Returns the id of the function if the tool shows its calls, or -1. */
static int traced(const struct probes *p, const char *name)
{
	int id = p->source->find(p->source->ctx, name);
	struct function fn = { 0 };

	if (id >= 0)
		fn = p->source->get(p, id);
	return fn.wanted && !fn.helper_only && cuda_lib_in_layer(fn.lib, p->layer) ? id : -1;
}

static bool is_traced(const void *ctx, const char *name)
{
	return traced(ctx, name) >= 0;
}

/* Returns the id of the traced function that frame i is in, or -1. */
static int call_at(const struct inflight *r, int pid, const struct stack *stack, int i,
		   const struct frame_view *v)
{
	int id = v->kind == FRAME_KIND_NATIVE && v->name ? traced(r->probes, v->name) : -1;
	const char *name;

	if (id >= 0)
		return id;
	name = export_jump(stack, pid, i, is_traced, r->probes);
	return name ? traced(r->probes, name) : -1;
}

/* Returns the number of the frame of the outermost call on the stack, or -1; sets *id, and whether the stack is whole and
 * was looked at to its end. */
static int find_call(struct inflight *r, int pid, const struct stack *stack, int *id, bool *whole)
{
	struct frame_view v;
	int at = -1;

	*id = -1;
	*whole = !stack_is_missing(stack);
	for (int i = 0; stack_view(stack, i, &v); i++) {
		int found = clock_ns() > r->until ? -1 : call_at(r, pid, stack, i, &v);

		*whole = v.kind != FRAME_KIND_NOTE && clock_ns() <= r->until;
		if (found < 0)
			continue;
		*id = found;
		at = i;
	}
	return at;
}

/* Returns what the row has of the stack, from the caller of the call at this native frame on.  What is kept of the parts of
 * a stack, once for a thread, is in proportion to what stack_get() took from the quota. */
static const struct stack *stack_of_caller(struct inflight *r, const struct thread_frames *frames,
					   const struct stack *native, int call)
{
	const struct stack *stack = wanted_stack(r, frames);
	struct frame_view v;

	if (stack_is_missing(stack) || !r->frames.native)
		return stack;
	if (!stack_view(native, call + 1, &v))
		return stack_missing(r->syms, NO_STACK_CALLER);
	return stack_from(stack, call + 1);
}

/* Return true if Python frames are missing that may be had the next time. */
static bool lacks_python(const struct thread_frames *frames)
{
	unsigned long long last = frames->at[frames->n - 1];

	return last == FRAME_NOTE_OF(NOTE_PYTHON_LOST, PYTHON_NOT_YET) ||
	       last == FRAME_NOTE_OF(NOTE_PYTHON_LOST, PYTHON_UNREADABLE);
}

static void drop(struct inflight *r, struct inflight_thread *t)
{
	HASH_DEL(r->threads, t);
	quota_give(&r->quota, t->user, 1);
	free(t);
}

static struct inflight_thread *find(struct inflight *r, const struct inflight_call *c, unsigned user)
{
	struct inflight_thread *t;
	int tid = c->tid;

	HASH_FIND_INT(r->threads, &tid, t);
	if (t || r->begun || !quota_take(&r->quota, user, c->stack.head.pid, 1))
		return t;
	t = xcalloc(1, sizeof(*t));
	t->pid = c->stack.head.pid;
	t->tid = tid;
	t->id = -1;
	t->user = user;
	HASH_ADD_INT(r->threads, tid, t);
	return t;
}

/* Return true if the stack is the one that was looked at. */
static bool is_same(const struct inflight_thread *t, const struct inflight_call *c)
{
	return t->id >= 0 && t->sp == c->stack.regs[UNWIND_SP] && t->pc == c->stack.regs[UNWIND_PC] &&
	       t->switches == c->switches;
}

/* Return true if the thread need not be looked at again. */
static bool look_at(struct inflight *r, struct inflight_thread *t, const struct inflight_call *c)
{
	const struct stack *native;
	struct thread_frames frames;
	bool whole = false;
	int call;

	t->sp = c->stack.regs[UNWIND_SP];
	t->pc = c->stack.regs[UNWIND_PC];
	t->switches = c->switches;
	t->id = -1;
	t->stack = NULL;
	if (!read_native(r, c, &frames))
		return false;
	native = native_stack(r, &frames);
	call = find_call(r, t->pid, native, &t->id, &whole);
	if (call >= 0 && r->stacks) {
		read_python(r, c, &frames);
		t->stack = stack_of_caller(r, &frames, native, call);
		if (lacks_python(&frames))
			t->sp = 0;	/* look again */
	}
	return t->id < 0 && whole;
}

/* Returns the thread if it may be in such a call; id says in which.  Looks at its stack, unless that is
 * unchanged since the last time.  user as in struct quota. */
static const struct inflight_thread *inflight_early(struct inflight *r, const struct inflight_call *c,
					    unsigned user)
{
	struct inflight_thread *t = find(r, c, user);

	if (!t)
		return NULL;
	t->round = r->round;
	t->unread = false;
	if (is_same(t, c) && (t->stack || !r->stacks))
		return t;
	t->unread = clock_ns() > r->until;
	if (t->unread)
		return NULL;
	if (!look_at(r, t, c))
		return t;
	drop(r, t);
	return NULL;
}

/* Forgets the threads that were not seen in this round. */
static void inflight_early_tidy(struct inflight *r)
{
	struct inflight_thread *t, *following;

	HASH_ITER(hh, r->threads, t, following)
		if (t->round != r->round)
			drop(r, t);
}

/* Reads what bpf/lib/inflight.bpf.h reports. */

/* Return true if the call is to be kept; sets its user. */
static bool take(struct inflight *r, struct inflight_taken *t)
{
	int pid = t->call.stack.head.pid;

	if (t->call.preexisting && !process_is_preexisting(r->processes, pid))
		return false;
	t->user = process_user(r->processes, pid);
	return quota_take(&r->quota, t->user, pid, 1);
}

/* EAGAIN: a million threads were visited, and there are more. */
static bool next(FILE *f, struct inflight_call *c)
{
	while (fread(c, sizeof(*c), 1, f) != 1) {
		if (!ferror(f) || errno != EAGAIN)
			return false;
		clearerr(f);
	}
	return true;
}

static struct inflight_taken *read_shared(struct inflight *r, size_t *n)
{
	size_t size;
	struct inflight_call *calls = bmaps_run("inflight_calls", sizeof(*calls), &size);
	struct inflight_taken *all = xcalloc(size / sizeof(*calls) + 1, sizeof(*all));

	for (size_t i = 0; i < size / sizeof(*calls); i++) {
		struct inflight_taken *t = &all[*n];

		t->call = calls[i];
		t->call.comm[sizeof(t->call.comm) - 1] = 0;
		if (t->call.id < (unsigned)r->probes->source->n && !t->call.preexisting && inflight_shared(r, &t->call) && take(r, t))
			++*n;
	}
	free(calls);
	return all;
}

/* Reads all of it first: the kernel's list of threads goes on while stacks are looked at. */
/* Returns *n calls, and threads that may be in one from before; the caller frees them. */
static struct inflight_taken *inflight_read(struct inflight *r, size_t *n)
{
	struct inflight_taken *all = NULL, t;
	FILE *f;
	int fd;

	*n = 0;
	if (bmaps_are_shared())
		return read_shared(r, n);
	fd = bpf_iter_create(bpf_link__fd(r->link));
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f)
		warning(errno, "cannot read the calls in flight");
	while (f && next(f, &t.call)) {
		if (!take(r, &t))
			continue;
		if (!(*n & (*n - 1)))
			all = xrealloc(all, *n ? 2 * *n : 1, sizeof(*all));
		all[(*n)++] = t;
	}
	if (f)
		fclose(f);
	return all;
}

/* MOST: calls and threads that programs can make the tool keep.  FAR: bytes; a stack that is further
 * from where a call began is another one. */
enum { MOST = 16384, FAR = 64 << 20 };

/* How long stacks are read when tracing begins, and for a report; the rest has its turn in the next. */
static const unsigned long long BEGIN_NS = 2000 * 1000000ull, REPORT_NS = 500 * 1000000ull;

/* Returns NULL if the call is on no device that is wanted. */
static struct inflight_row *new_row(struct inflight *r, const struct inflight_call *c, unsigned user,
				   unsigned int device)
{
	struct inflight_row *row;

	if (r->only && !device_is_in(r->only, device) && !device_is_in(r->only, c->peer)) {
		r->unknown += !device;
		return NULL;
	}
	r->rows = xrealloc(r->rows, r->n + 1, sizeof(*r->rows));
	row = &r->rows[r->n++];
	*row = (struct inflight_row){ .pid = c->stack.head.pid, .tid = c->tid, .inflight = true,
				     .device = device, .user = user };
	memcpy(row->name, c->comm, sizeof(row->name));
	row->name[sizeof(row->name) - 1] = 0;
	return row;
}

/* Return true if the kernel awaits the return of the call.  Only the innermost calls are listed. */
static bool is_awaited(const struct inflight_call *c)
{
	for (int i = 0; i < STACK_RETURNS; i++)
		if (c->stack.returns[i].at == c->stack.from)
			return true;
	return c->stack.returns[STACK_RETURNS - 1].at;
}

/* Return true if the thread has left the call without a return: by longjmp() or an exception.  While it is
 * in it, the return address is that of the kernel's trampoline: see is_armed() in bpf/lib/task.bpf.h.  0: the
 * process is ending, unless its memory may not be read.  Where calls push no return address, the kernel's list tells: it has
 * a call that was left until the thread enters another one. */
static bool has_left(const struct inflight *r, const struct inflight_call *c)
{
	unsigned long long sp = c->stack.regs[UNWIND_SP], from = c->stack.from, word = 0;

	if (bmaps_are_shared())		/* inflight_shared() knows */
		return false;
	if (sp > from && sp - from < FAR)
		return true;
	if (!UNWIND_PUSHED)
		return !is_awaited(c);
	if (clock_ns() > r->until || vm_read_words(r->probes->helpers, c->stack.head.pid, &from, 1, &word))
		return false;
	return word ? word & 0xfff : !vm_read_forbidden(r->probes->helpers, c->stack.head.pid);
}

static bool add_seen(struct inflight *r, const struct inflight_call *c, unsigned user)
{
	unsigned int device = r->memory ? memory_call_device(r->memory, c) : c->device;
	struct inflight_row *row = has_left(r, c) ? NULL : new_row(r, c, user, device);

	if (!row)
		return false;
	row->func = r->probes->source->get(r->probes, c->id).name;
	row->start = c->start;
	row->age = r->now > c->start ? r->now - c->start : 0;
	row->complete = true;
	row->nccl = c->nccl;
	row->behind = c->behind;
	row->stack = r->stacks ? inflight_stack(r, c) : NULL;
	return true;
}

static bool add_early(struct inflight *r, const struct inflight_call *c, unsigned user)
{
	const struct inflight_thread *t = inflight_early(r, c, user);
	struct inflight_row *row = t && t->id >= 0 ? new_row(r, c, user, 0) : NULL;

	if (!row)
		return false;
	row->func = r->probes->source->get(r->probes, t->id).name;
	row->start = r->since;
	row->age = r->now - r->since;
	row->stack = t->stack;
	return true;
}

static void add(struct inflight *r, const struct inflight_taken *t)
{
	if (!(t->call.preexisting ? add_early : add_seen)(r, &t->call, t->user))
		quota_give(&r->quota, t->user, 1);
}

static int longest_first(const void *a, const void *b)
{
	const struct inflight_row *p = a, *q = b;

	return p->age == q->age ? p->tid - q->tid : p->age < q->age ? 1 : -1;
}

/* Pointers into a row are good when no more rows come. */
static void complete(struct inflight *r, struct inflight_row *row)
{
	const char *id = *row->container_id ? NULL : process_container(r->processes, row->pid);

	row->time = r->now;
	row->comm = row->name;
	if (id)
		memcpy(row->container_id, id, sizeof(row->container_id));
	row->container = *row->container_id ? row->container_id : NULL;
}

static bool has_row(const struct inflight *r, int tid)
{
	size_t i = 0;

	while (i < r->n && r->rows[i].tid != tid)
		i++;
	return i < r->n;
}

static void take_held(struct inflight *r)
{
	if (!r->killed)
		return;
	for (size_t i = 0; i < r->nheld; i++) {
		const struct inflight_row *row = &r->held[i];

		if (has_row(r, row->tid) || proc_identity(row->pid).stack) {
			quota_give(&r->quota, row->user, 1);
			continue;
		}
		r->rows = xrealloc(r->rows, r->n + 1, sizeof(*r->rows));
		r->rows[r->n++] = *row;
	}
	free(r->held);
	r->held = NULL;
	r->nheld = 0;
}

/* Each report reads the stack of a call again. */
static void count_loss(struct inflight *r, int tid, unsigned long long start, const struct stack *stack)
{
	unsigned notes = stack ? stack_reasons(stack) : 0;
	struct inflight_loss *l;

	HASH_FIND_INT(r->incomplete, &tid, l);
	if (!l && notes) {
		l = xcalloc(1, sizeof(*l));
		l->tid = tid;
		HASH_ADD_INT(r->incomplete, tid, l);
	}
	if (!l)
		return;
	l->round = r->round;
	if (l->start == start || !notes)
		return;
	l->start = start;
	stack_losses_add(r->losses, notes);
}

static void count_losses(struct inflight *r)
{
	struct inflight_loss *l, *following;

	for (size_t i = 0; i < r->n; i++)
		count_loss(r, r->rows[i].tid, r->rows[i].start, r->rows[i].stack);
	HASH_ITER(hh, r->incomplete, l, following) {
		if (l->round == r->round)
			continue;
		HASH_DEL(r->incomplete, l);
		free(l);
	}
}

static void collect(struct inflight *r)
{
	struct inflight_taken *all;
	size_t n;

	inflight_clear(r);
	*r->all = !r->begun || r->threads;
	r->round++;
	r->mapped = 0;
	r->unknown = 0;
	all = inflight_read(r, &n);
	r->now = clock_ns();
	r->until = r->now + (!r->begun ? BEGIN_NS : r->report_ns ?: REPORT_NS);
	for (size_t i = 0; i < n; i++)
		add(r, &all[i]);
	free(all);
	inflight_early_tidy(r);
	take_held(r);
	if (r->n)
		qsort(r->rows, r->n, sizeof(*r->rows), longest_first);
	for (size_t i = 0; i < r->n; i++)
		complete(r, &r->rows[i]);
	inflight_tell(r);
}

void inflight_collect(struct inflight *r)
{
	collect(r);
	count_losses(r);
}

bool inflight_is_unread(const struct inflight *r, int pid)
{
	const struct inflight_thread *t = r->threads;

	while (t && !(t->unread && t->pid == pid))
		t = t->hh.next;
	return t;
}

void inflight_threads(struct inflight *r, int pid, int tid, void (*fn)(void *ctx, const struct inflight_row *thread), void *ctx)
{
	struct inflight_row none = {
		.pid = pid, .tid = tid, .comm = none.name,
		.stack = stack_missing(NULL, bmaps_are_shared() ? NO_STACK_INJECT : NO_STACK_GONE),
	};
	struct inflight_call all[2], c;
	size_t n = 0;
	FILE *f;
	int fd;

	fn(ctx, &none);
	if (bmaps_are_shared())
		return;
	*r->of = pid;
	fd = bpf_iter_create(bpf_link__fd(r->link));
	f = fd < 0 ? NULL : fdopen(fd, "r");
	while (f && n < 2 && next(f, &c))
		if ((int)c.stack.head.pid == pid && ((int)c.tid == tid || (int)c.tid == pid))
			all[n++] = c;
	if (f)
		fclose(f);
	*r->of = 0;
	r->until = clock_ns() + REPORT_NS;
	r->mapped = 0;
	for (size_t i = 0; i < n; i++) {
		struct inflight_row row = { .pid = pid, .tid = all[i].tid, .comm = row.name };

		memcpy(row.name, all[i].comm, sizeof(row.name));
		row.name[sizeof(row.name) - 1] = 0;
		row.stack = inflight_stack(r, &all[i]);
		fn(ctx, &row);
		count_loss(r, row.tid, r->since, row.stack);
	}
	if (!n)
		count_loss(r, tid, r->since, none.stack);
}

/* The rows of the last report may still be in use. */
static void on_signal(void *ctx, bool killed)
{
	struct inflight *r = ctx;
	struct inflight_row *rows = r->rows;
	size_t n = r->n;

	r->killed = killed;
	if (killed)
		return;
	r->rows = NULL;
	r->n = 0;
	collect(r);
	r->held = r->rows;
	r->nheld = r->n;
	r->rows = rows;
	r->n = n;
}

void inflight_start(struct inflight *r)
{
	r->processes->on_signal = on_signal;
	r->processes->on_signal_ctx = r;
	r->since = clock_ns();
	r->quota = (struct quota){
		.limit = MOST, .what = "calls in flight", .loss = "further ones of its processes are dropped",
		.whole = r->alone,
	};
	collect(r);
	inflight_clear(r);
	r->begun = true;
}

void inflight_clear(struct inflight *r)
{
	for (size_t i = 0; i < r->n; i++)
		quota_give(&r->quota, r->rows[i].user, 1);
	free(r->rows);
	r->rows = NULL;
	r->n = 0;
}

void inflight_free(struct inflight *r)
{
	inflight_clear(r);
	r->rows = r->held;
	r->n = r->nheld;
	inflight_clear(r);
	r->round++;
	inflight_early_tidy(r);
	count_losses(r);
	syms_free(r->syms);
	r->syms = NULL;
	quota_free(&r->quota);
}
