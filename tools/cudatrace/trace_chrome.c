/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "base/escape.h"
#include "base/hash.h"
#include "cudatrace/trace.h"
#include "cudatrace/trace_args.h"
#include "cudatrace/trace_chrome.h"
#include "cudatrace/trace_sticky.h"
#include "proc/proc.h"
#include "proc/users.h"
#include "sym/stack.h"
#include "view/columns.h"

/* A track, or a process (tid 0), and its name in the file. */
struct chrome_track {
	struct { int pid, tid; } key;
	unsigned user;
	char name[16];
	UT_hash_handle hh;
};

/* A track's bytes on the heap, with its place in the table. */
enum { TRACK_COST = sizeof(struct chrome_track) + 32 };

struct quota trace_chrome_quota(void)
{
	return (struct quota){
		.limit = 4 << 20, .what = "threads in the timeline",
		.loss = "further ones have no name there",
	};
}

void trace_chrome_open(struct trace_chrome *c, const char *path)
{
	chrome_open(&c->out, path);
}

/* Returns NULL if there are too many. */
static struct chrome_track *track_of(struct trace_chrome *c, int pid, int tid)
{
	struct chrome_track want, *n;
	unsigned user;

	memset(&want, 0, sizeof(want));
	want.key.pid = pid;
	want.key.tid = tid;
	HASH_FIND(hh, c->tracks, &want.key, sizeof(want.key), n);
	if (n)
		return n;
	user = users_of(c->users, pid);
	if (!quota_take(&c->quota, user, pid, TRACK_COST))
		return NULL;
	n = xcalloc(1, sizeof(*n));
	n->key = want.key;
	n->user = user;
	HASH_ADD(hh, c->tracks, key, sizeof(n->key), n);
	return n;
}

static void set_name(struct trace_chrome *c, struct chrome_track *n, const char *name)
{
	if (!n || !strncmp(n->name, name, sizeof(n->name)))
		return;
	snprintf(n->name, sizeof(n->name), "%s", name);
	chrome_name(&c->out, n->key.pid, n->key.tid, n->name);
}

/* A process is named after its first thread. */
static void name_tracks(struct trace_chrome *c, const struct trace_event *e)
{
	struct chrome_track *process = track_of(c, e->head.pid, 0);
	char comm[16];

	if (e->head.pid == e->tid)
		set_name(c, process, e->comm);
	else if (process && !*process->name)
		set_name(c, process, proc_comm(e->head.pid, comm) ? comm : e->comm);
	set_name(c, track_of(c, e->head.pid, e->tid), e->comm);
}

/* "device" is a parameter of some functions. */
static void print_device(FILE *file, unsigned int device)
{
	char text[16];

	fprintf(file, "\"on_device\":%s,", device ? device_text(device, text) : "null");
}

static void print_title(FILE *file, const struct trace_call *call)
{
	const char *kernel = trace_kernel_name(call);
	char *title = kernel ? xprintf("%s(%s)", call->proto->name, kernel) : NULL;

	escape_json(file, title ? title : call->proto->name);
	free(title);
}

/* Without a length: slices of threads that use a stream at the same time would overlap, and nobody knows when
 * the GPU does it.  At the call's return, as it is in the stream by then, and Perfetto draws an arrow from the
 * end of a slice: it does not point back in time. */
static void print_work(struct trace_chrome *c, const struct trace_call *call)
{
	const struct trace_event *e = call->event;
	int track = trace_streams_track(&c->streams, &c->out, call);
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
	struct chrome_track *n, *next;

	trace_streams_forget(&c->streams, pid);
	HASH_ITER(hh, c->tracks, n, next) {
		if (pid >= 0 && n->key.pid != pid)
			continue;
		HASH_DEL(c->tracks, n);
		quota_give(&c->quota, n->user, TRACK_COST);
		free(n);
	}
}

bool trace_chrome_close(struct trace_chrome *c)
{
	trace_chrome_forget(c, -1);
	quota_free(&c->quota);
	return chrome_close(&c->out);
}
