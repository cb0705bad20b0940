/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "api/cuda_fn.h"
#include "base/escape.h"
#include "base/hash.h"
#include "base/util.h"
#include "cudatrace/trace_gpu.h"
#include "gputime/gpu_calls.h"
#include "kernels/kernel_name.h"
#include "proc/process_table.h"
#include "view/chrome.h"
#include "view/columns.h"

/* A stream as CUPTI numbers it, which is not its handle. */
struct gpu_track {
	struct { int pid; unsigned int device, context, stream; } key;
	int number;
	unsigned user;
	UT_hash_handle hh;
};

/* No thread and no stream of the calls has such a number: see trace_chrome.c. */
enum { TRACK_COST = sizeof(struct gpu_track) + 32, FIRST_TRACK = 3 << 29, TRACKS = 1 << 28 };

static void name_track(struct chrome *out, const struct gpu_track *t)
{
	char text[16], title[64];

	snprintf(title, sizeof(title), "GPU %s, stream %u of context %u", device_text(t->key.device, text), t->key.stream, t->key.context);
	chrome_name(out, t->key.pid, t->number, title);
}

/* Returns NULL if there are too many. */
static struct gpu_track *track_of(struct trace_gpu *g, const struct gpu_run *r)
{
	struct gpu_track want = { .key = { r->pid, r->device, r->context, r->stream } }, *t;

	HASH_FIND(hh, g->tracks, &want.key, sizeof(want.key), t);
	if (t)
		return t;
	want.user = process_user(g->processes, r->pid);
	if (g->ntracks == TRACKS || !quota_take(&g->quota, want.user, r->pid, TRACK_COST))
		return NULL;
	want.number = FIRST_TRACK + g->ntracks++;
	t = xcalloc(1, sizeof(*t));
	*t = want;
	HASH_ADD(hh, g->tracks, key, sizeof(t->key), t);
	name_track(g->out, t);
	return t;
}

static void trace_gpu_print_name(FILE *file, const struct gpu_run *r, enum kernel_style style)
{
	const char *text = r->kind == GPUTIME_COPY ? cuda_direction_name(r->direction) : r->kind == GPUTIME_SET ? "memset" :
			   r->kernel ? kernel_called(r->kernel, style) : "[unknown]";
	char *graph = r->kind == GPUTIME_GRAPH ? xprintf("[graph] #%u", r->graph) : NULL;

	escape_json(file, graph ? graph : text);
	free(graph);
}

static void on_run(void *ctx, const struct gpu_run *r)
{
	struct trace_gpu *g = ctx;
	struct gpu_track *t = track_of(g, r);
	FILE *file = g->out->file;

	if (!t)
		return;
	chrome_event(g->out);
	fputs("\"name\":", file);
	trace_gpu_print_name(file, r, g->names);
	fprintf(file, ",\"cat\":\"gpu\",\"ph\":\"X\",\"pid\":%d,\"tid\":%d", r->pid, t->number);
	chrome_us(g->out, "ts", r->start);
	chrome_us(g->out, "dur", r->end - r->start);
	fprintf(file, ",\"args\":{\"correlation\":%u", r->correlation);
	if (r->kind == GPUTIME_COPY || r->kind == GPUTIME_SET)
		fprintf(file, ",\"bytes\":%llu", r->bytes);
	fputs("}}", file);
	if (r->caller && r->caller->tid)
		chrome_arrow(g->out, r->pid, r->caller->tid, r->caller->start / 2 + r->caller->end / 2, t->number, r->start);
}

void trace_gpu_open(struct trace_gpu *g, struct process_table *processes, struct chrome *out)
{
	g->out = out;
	g->processes = processes;
	g->quota = (struct quota){
		.limit = 4 << 20, .what = "streams of GPUs in the timeline", .loss = "what ran in further ones is not shown",
	};
	g->time.callers = true;
	g->time.want |= GPUTIME_LAUNCHES | GPUTIME_COPY_CALLS;
	g->time.on_run = on_run;
	g->time.ctx = g;
	gpu_time_open(&g->time, processes);
}

void trace_gpu_close(struct trace_gpu *g)
{
	gpu_time_close(&g->time);
	HASH_FREE(g->tracks);
	quota_free(&g->quota);
}
