/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/escape.h"
#include "base/hash.h"
#include "cudatrace/trace_args.h"
#include "cudatrace/trace_call.h"
#include "cudatrace/trace_chrome.h"
#include "cudatrace/trace_errors.h"
#include "cudatrace/trace_suspects.h"
#include "proc/proc.h"
#include "proc/process_table.h"
#include "sym/stack.h"
#include "view/columns.h"

/* A thread, or a process (tid 0), and its name in the file. */
struct thread_track {
	struct { int pid, tid; } key;
	unsigned user;
	char name[16];
	UT_hash_handle hh;
};

/* A track's bytes on the heap and in the hash table. */
enum { THREAD_TRACK_COST = sizeof(struct thread_track) + 32 };

/* Returns NULL if there are too many. */
static struct thread_track *thread_of(struct trace_chrome *c, int pid, int tid)
{
	struct thread_track want, *n;
	unsigned user;

	memset(&want, 0, sizeof(want));
	want.key.pid = pid;
	want.key.tid = tid;
	HASH_FIND(hh, c->threads, &want.key, sizeof(want.key), n);
	if (n)
		return n;
	user = process_user(c->processes, pid);
	if (!quota_take(&c->thread_quota, user, pid, THREAD_TRACK_COST))
		return NULL;
	n = xcalloc(1, sizeof(*n));
	n->key = want.key;
	n->user = user;
	HASH_ADD(hh, c->threads, key, sizeof(n->key), n);
	return n;
}

static void set_name(struct trace_chrome *c, struct thread_track *n, const char *name)
{
	if (!n || !strncmp(n->name, name, sizeof(n->name)))
		return;
	snprintf(n->name, sizeof(n->name), "%s", name);
	chrome_name(&c->out, n->key.pid, n->key.tid, n->name);
}

/* A process is named after its first thread. */
static void name_tracks(struct trace_chrome *c, const struct trace_event *e)
{
	struct thread_track *process = thread_of(c, e->head.pid, 0);
	char comm[16];

	if (e->head.pid == e->tid)
		set_name(c, process, e->comm);
	else if (process && !*process->name)
		set_name(c, process, proc_comm(e->head.pid, comm) ? comm : e->comm);
	set_name(c, thread_of(c, e->head.pid, e->tid), e->comm);
}

/* A stream is a track with a number that no thread has. */
struct stream_track {
	struct {
		unsigned long long stream;
		int pid, tid;		/* tid: of STREAM_PER_THREAD */
		unsigned int device;	/* of the default streams, of which each device has its own */
		unsigned int unused;
	} key;
	int number;
	unsigned user;
	UT_hash_handle hh;
};

/* Thread ids go up to 2^22: PID_MAX_LIMIT of the kernel. */
enum { STREAM_COST = sizeof(struct stream_track) + 32, FIRST_TRACK = 1 << 23, TRACKS = 1 << 30 };

/* Returns OUT_NONE if the call puts no work into a stream. */
static unsigned long long stream_used(const struct trace_call *call)
{
	const struct cuda_fn *fn = call->function->role ? &cuda_fns[call->function->role - 1] : NULL;
	const unsigned work = 1 << CUDA_LAUNCH | 1 << CUDA_COPY | 1 << CUDA_SET;
	unsigned long long passed;

	if (!fn || !cuda_fn_in(fn, work) || !fn->args.async || call->failed || call->event->part ||
	    call->event->captured)
		return OUT_NONE;
	if (!call->function->handle_at)
		return stream_of(fn, trace_word(call, fn->args.stream));
	if (!trace_target(call, fn->args.params, CUDA_CONFIG_STREAM, &passed, sizeof(passed)))
		return OUT_NONE;
	return passed ? passed : fn->args.per_thread ? STREAM_PER_THREAD : STREAM_LEGACY;
}

static void name_stream(struct chrome *out, const struct stream_track *t)
{
	char text[32], device[32] = "", thread[32] = "", title[96];

	if (t->key.device)
		snprintf(device, sizeof(device), ", device %u", t->key.device - 1);
	if (t->key.tid)
		snprintf(thread, sizeof(thread), ", thread %d", t->key.tid);
	snprintf(title, sizeof(title), "%s%s%s", stream_text(t->key.stream, text), device, thread);
	chrome_name(out, t->key.pid, t->number, title);
}

/* Sets the key of *want. */
static struct stream_track *find_stream(const struct trace_chrome *c, const struct trace_event *e,
					unsigned long long stream, struct stream_track *want)
{
	struct stream_track *t;

	memset(want, 0, sizeof(*want));
	want->key.stream = stream;
	want->key.pid = e->head.pid;
	want->key.tid = stream == STREAM_PER_THREAD ? e->tid : 0;
	want->key.device = stream <= STREAM_PER_THREAD ? e->device : 0;
	HASH_FIND(hh, c->streams, &want->key, sizeof(want->key), t);
	return t;
}

/* Returns the track of the stream that the call puts work into; 0 if there is none, or if there are too
 * many streams. */
static int stream_track(struct trace_chrome *c, const struct trace_call *call)
{
	unsigned long long stream = stream_used(call);
	int pid = call->event->head.pid;
	struct stream_track want, *t = stream == OUT_NONE ? NULL : find_stream(c, call->event, stream, &want);

	if (t || stream == OUT_NONE)
		return t ? t->number : 0;
	want.user = process_user(c->processes, pid);
	if (c->nstreams == TRACKS || !quota_take(&c->stream_quota, want.user, pid, STREAM_COST))
		return 0;
	want.number = FIRST_TRACK + c->nstreams++;
	t = xcalloc(1, sizeof(*t));
	*t = want;
	HASH_ADD(hh, c->streams, key, sizeof(t->key), t);
	name_stream(&c->out, t);
	return t->number;
}

static void forget_streams(struct trace_chrome *c, int pid)
{
	struct stream_track *t, *next;

	HASH_ITER(hh, c->streams, t, next) {
		if (pid >= 0 && t->key.pid != pid)
			continue;
		HASH_DEL(c->streams, t);
		quota_give(&c->stream_quota, t->user, STREAM_COST);
		free(t);
	}
}

struct trace_chrome trace_chrome_init(struct process_table *processes)
{
	return (struct trace_chrome){
		.processes = processes,
		.thread_quota = {
			.limit = 4 << 20, .what = "threads in the timeline",
			.loss = "further ones have no name there",
		},
		.stream_quota = {
			.limit = 4 << 20, .what = "streams in the timeline",
			.loss = "work in further ones is shown only in its thread",
		},
	};
}

/* "device" is a parameter of some functions. */
static void print_device(FILE *file, unsigned int device)
{
	char text[16];

	fprintf(file, "\"on_device\":%s,", device && device != DEVICE_NONE ? device_text(device, text) : "null");
}

static void print_title(FILE *file, const struct trace_call *call)
{
	const char *kernel = trace_kernel_name(call);
	char *title = kernel ? xprintf("%s(%s)", call->proto->name, kernel) : NULL;

	escape_json(file, title ? title : call->proto->name);
	free(title);
}

/* Of length 0: when the GPU does the work is unknown, and slices of threads that share a stream would
 * overlap.  At the call's return, when it is in the stream: Perfetto draws the arrow from the end of the
 * call's slice, so it does not point back in time. */
static void print_work(struct trace_chrome *c, const struct trace_call *call)
{
	const struct trace_event *e = call->event;
	int track = stream_track(c, call);
	FILE *file = c->out.file;

	if (!track)
		return;
	chrome_event(&c->out);
	fputs("\"name\":", file);
	print_title(file, call);
	fprintf(file, ",\"cat\":\"stream\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d", e->head.pid, track);
	chrome_us(&c->out, "ts", e->time);
	fputs(",\"dur\":0,\"args\":{", file);
	print_device(file, e->device);
	fprintf(file, "\"thread\":%u}}", e->tid);
	chrome_arrow(&c->out, e->head.pid, e->tid, e->start, track, e->time);
}

void trace_chrome_call(struct trace_chrome *c, const struct trace_call *call)
{
	const struct trace_event *e = call->event;
	FILE *file = c->out.file;

	name_tracks(c, e);
	chrome_event(&c->out);
	fputs("\"name\":", file);
	print_title(file, call);
	fprintf(file, ",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d",
		cuda_lib_name(call->proto->lib), e->head.pid, e->tid);
	chrome_us(&c->out, "ts", e->start);
	chrome_us(&c->out, "dur", trace_duration(call));
	fputs(",\"args\":{", file);
	print_device(file, e->device);
	trace_args(file, true, call);
	if (call->proto->nparams)
		putc(',', file);
	fputs("\"return\":", file);	/* no parameter has that name, nor "stack" */
	if (trace_error(call))
		fprintf(file, "\"%s\"", trace_error(call));
	else
		trace_result(file, true, call);
	if (call->cause) {
		fputs(",\"earlier\":", file);
		trace_sticky_json(file, call->cause);
	}
	if (call->stack) {	/* Perfetto reads no "stackFrames" of such events */
		fputs(",\"stack\":", file);
		stack_text_json(file, call->stack);
	}
	fputs("}}", file);
	print_work(c, call);
}

void trace_chrome_forget(struct trace_chrome *c, int pid)
{
	struct thread_track *n, *next;

	forget_streams(c, pid);
	HASH_ITER(hh, c->threads, n, next) {
		if (pid >= 0 && n->key.pid != pid)
			continue;
		HASH_DEL(c->threads, n);
		quota_give(&c->thread_quota, n->user, THREAD_TRACK_COST);
		free(n);
	}
}

bool trace_chrome_close(struct trace_chrome *c)
{
	trace_chrome_forget(c, -1);
	quota_free(&c->thread_quota);
	quota_free(&c->stream_quota);
	return chrome_close(&c->out);
}

/* The device or context that a thread uses: see PLACE_DEVICE. */
struct held_thread {
	struct { int pid, tid; } key;
	unsigned user;
	unsigned long long location;
	UT_hash_handle hh;
};

enum { THREAD_COST = sizeof(struct held_thread) + 32 };

#define HELD_CLASSES (MEMORY_CLASSES | 1 << CUDA_CTX)

struct trace_held trace_held_init(struct process_table *processes)
{
	return (struct trace_held){
		.memory = MEMORY_INIT, .processes = processes,
		.quota = {
			.limit = 4 << 20, .what = "threads with a device",
			.loss = "resets in further ones are taken to be of all devices",
		},
	};
}

/* How many references there are to a primary context, which its last release resets, is not followed here. */
static bool changes_held(const struct cuda_fn *fn)
{
	return fn && cuda_fn_in(fn, HELD_CLASSES) && !(fn->class == CUDA_RESET && fn->args.counted);
}

bool trace_changes_held(const struct cuda_proto *proto)
{
	return changes_held(trace_role(proto));
}

static struct held_thread *find_thread(const struct trace_held *h, int pid, int tid)
{
	struct held_thread want, *thread;

	memset(&want, 0, sizeof(want));
	want.key.pid = pid;
	want.key.tid = tid;
	HASH_FIND(hh, h->threads, &want.key, sizeof(want.key), thread);
	return thread;
}

static void set_location(struct trace_held *h, int pid, int tid, unsigned long long location)
{
	struct held_thread *thread = find_thread(h, pid, tid);
	unsigned user;

	if (!thread) {
		user = process_user(h->processes, pid);
		if (!quota_take(&h->quota, user, pid, THREAD_COST))
			return;
		thread = xcalloc(1, sizeof(*thread));
		thread->key.pid = pid;
		thread->key.tid = tid;
		thread->user = user;
		HASH_ADD(hh, h->threads, key, sizeof(thread->key), thread);
	}
	thread->location = location;
}

static unsigned long long device(unsigned long long n)
{
	return PLACE_DEVICE | (unsigned)n;
}

/* As device_switched() of bpf/lib/device.bpf.h, but without a stack of contexts for cuCtxPopCurrent(). */
static unsigned long long chosen(const struct cuda_args *row, const struct memory_event *m)
{
	if (row->dev && !row->ctx)
		return device(m->arg2);
	return row->stack == CUDA_POP ? PLACE_UNKNOWN : m->ptr;
}

/* The record that cudaleak's probes would have made. */
static struct memory_event event_of(const struct trace_held *h, const struct trace_call *call,
				    const struct cuda_fn *fn)
{
	const struct trace_event *e = call->event;
	const struct cuda_args *row = &fn->args;
	const struct held_thread *thread = find_thread(h, e->head.pid, e->tid);
	struct memory_event m = {
		.head = { .pid = e->head.pid, .kind = fn - cuda_fns }, .time = e->time, .start = e->start,
		.ptr = trace_word(call, row->ptr ?: row->handle ?: row->ctx),
		.size = trace_bytes(call, row), .tid = e->tid, .captured = e->captured, .location = thread ? thread->location : 0,
		.arg2 = trace_word(call, row->ptr ? row->handle : row->dev),
	};

	memcpy(m.comm, e->comm, sizeof(m.comm));
	if (fn->class == CUDA_RESET)
		m.arg2 = row->ctx ? m.ptr : row->dev ? device(m.arg2) : m.location;
	if (row->ipc)
		m.arg2 = trace_ipc(call, row);
	if (row->out && !trace_target(call, row->out, 0, &m.ptr, sizeof(m.ptr)))
		m.ptr = 0;
	return m;
}

struct mem_process *trace_held_call(struct trace_held *h, const struct trace_call *call)
{
	const struct trace_event *e = call->event;
	const struct cuda_fn *fn = trace_role(call->proto);
	struct memory_event m;

	if (!changes_held(fn) || e->inner || e->head.kind != TRACE_CALL || (int)e->ret)
		return NULL;
	m = event_of(h, call, fn);
	if (fn->class != CUDA_CTX)
		return memory_apply(&h->memory, &m, NULL).process;
	if (fn->args.stack != CUDA_KEEP && fn->args.stack != CUDA_GONE)
		set_location(h, e->head.pid, e->tid, chosen(&fn->args, &m));
	return NULL;
}

void trace_held_forget(struct trace_held *h, int pid)
{
	const struct process_event gone = { .head.pid = pid };
	struct held_thread *thread, *next;

	memory_forget(memory_process(&h->memory, &gone));
	HASH_ITER(hh, h->threads, thread, next) {
		if (pid >= 0 && thread->key.pid != pid)
			continue;
		HASH_DEL(h->threads, thread);
		quota_give(&h->quota, thread->user, THREAD_COST);
		free(thread);
	}
}

void trace_held_free(struct trace_held *h)
{
	trace_held_forget(h, -1);
	memory_free(&h->memory);
	quota_free(&h->quota);
}
