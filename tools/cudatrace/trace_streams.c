/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "cudatrace/trace.h"
#include "cudatrace/trace_bytes.h"
#include "cudatrace/trace_streams.h"
#include "proc/users.h"
#include "view/chrome.h"
#include "view/columns.h"

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

/* Threads have numbers up to 2^22: PID_MAX_LIMIT of the kernel. */
enum { TRACK_COST = sizeof(struct stream_track) + 32, FIRST_TRACK = 1 << 23, TRACKS = 1 << 30 };

struct quota trace_streams_quota(void)
{
	return (struct quota){
		.limit = 4 << 20, .what = "streams in the timeline",
		.loss = "work in further ones is shown in its thread alone",
	};
}

/* Returns OUT_NONE if the call puts no work into a stream. */
static unsigned long long stream_used(const struct trace_call *call)
{
	const struct cuda_fn *fn = call->function->role ? &cuda_fns[call->function->role - 1] : NULL;
	const unsigned work = 1 << CUDA_LAUNCH | 1 << CUDA_COPY | 1 << CUDA_SET;
	unsigned long long passed;

	if (!fn || !cuda_fn_in(fn, work) || !fn->args.async || call->failed || call->event->depth)
		return OUT_NONE;
	if (!call->function->handle_at)
		return stream_of(fn, trace_word(call, fn->args.stream));
	if (!trace_pointed(call, fn->args.params, CUDA_CONFIG_STREAM, &passed, sizeof(passed)))
		return OUT_NONE;
	return passed ? passed : fn->args.per_thread ? STREAM_PER_THREAD : STREAM_LEGACY;
}

static void name(struct chrome *out, const struct stream_track *t)
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
static struct stream_track *find(struct trace_streams *s, const struct trace_event *e,
				 unsigned long long stream, struct stream_track *want)
{
	struct stream_track *t;

	memset(want, 0, sizeof(*want));
	want->key.stream = stream;
	want->key.pid = e->head.pid;
	want->key.tid = stream == STREAM_PER_THREAD ? e->tid : 0;
	want->key.device = stream <= STREAM_PER_THREAD ? e->device : 0;
	HASH_FIND(hh, s->tracks, &want->key, sizeof(want->key), t);
	return t;
}

int trace_streams_track(struct trace_streams *s, struct chrome *out, const struct trace_call *call)
{
	unsigned long long stream = stream_used(call);
	int pid = call->event->head.pid;
	struct stream_track want, *t = stream == OUT_NONE ? NULL : find(s, call->event, stream, &want);

	if (t || stream == OUT_NONE)
		return t ? t->number : 0;
	want.user = users_of(s->users, pid);
	if (s->made == TRACKS || !quota_take(&s->quota, want.user, pid, TRACK_COST))
		return 0;
	want.number = FIRST_TRACK + s->made++;
	t = xcalloc(1, sizeof(*t));
	*t = want;
	HASH_ADD(hh, s->tracks, key, sizeof(t->key), t);
	name(out, t);
	return t->number;
}

void trace_streams_forget(struct trace_streams *s, int pid)
{
	struct stream_track *t, *next;

	HASH_ITER(hh, s->tracks, t, next) {
		if (pid >= 0 && t->key.pid != pid)
			continue;
		HASH_DEL(s->tracks, t);
		quota_give(&s->quota, t->user, TRACK_COST);
		free(t);
	}
	if (pid < 0)
		quota_free(&s->quota);
}
