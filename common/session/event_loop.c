/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "base/clock.h"
#include "base/die.h"
#include "cli/out.h"
#include "probe/watch.h"
#include "session/event_loop.h"
#include "session/target.h"
#include "session/target_watch.h"

/* The probes do not wake the reader for each record: that would double their cost. */
enum { POLL_MS = 10 };
static const double NS_PER_S = 1e9;	/* double: no duration overflows it */

/* Static, as a signal handler gets no context. */
static volatile sig_atomic_t stop;

/* Probes may write records faster than we handle them: without a limit a read would never end. */
struct record_reader {
	const struct event_loop *events;
	bool last;
	long left;		/* bytes to read before the loop does anything else */
};

static void on_signal(int sig)
{
	stop = sig;
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct record_reader *r = ctx;
	int err = r->events->record(r->events->ctx, data, size);

	r->left -= size;
	if (err < 0)
		return err;
	return r->left < 0 || (!r->last && (stop || out_is_held_up())) ? -EAGAIN : 0;
}

int event_loop_run(struct target *t, struct event_loop *e)
{
	double end = t->duration ? clock_ns() + t->duration * NS_PER_S : 0;
	double next = clock_ns() + e->interval * NS_PER_S;
	struct record_reader reading = { .events = e };
	struct ring_buffer *rb = NULL;
	long reports = 0;
	bool last = false;
	int err;

	if (e->ring)
		rb = ring_buffer__new(bpf_map__fd(e->ring), on_record, &reading, NULL);
	if (e->ring && !rb)
		die(errno, "cannot read records");
	catch_signals();
	while (!last) {
		last = stop || target_ended(t) || (end && clock_ns() >= end);
		reading.last = last;
		reading.left = e->ring ? bpf_map__max_entries(e->ring) : 0;
		/* records not read in time are lost, and counted */
		err = watch_poll(t->probes.watch, last || !out_is_held_up() ? rb : NULL,
				 last ? 0 : POLL_MS);
		if (err && err != -EAGAIN)
			die(err, "cannot read records");
		target_tick(t);
		if (e->tick && !e->tick(e->ctx))
			last = true;
		if (e->interval && !last && clock_ns() >= next && !out_is_held_up()) {
			e->report(e->ctx);
			next += e->interval * NS_PER_S;
			if (next < clock_ns())	/* the loop was blocked: skip the missed reports */
				next = clock_ns() + e->interval * NS_PER_S;
			last = e->counted_out = ++reports == e->count;
		}
		last |= !out_flush();
	}
	if (e->lost) {
		memcpy(e->lost_then, e->lost, sizeof(e->lost_then));
		losses_read(&e->losses, e->lost_by);
	}
	ring_buffer__free(rb);
	return stop;
}

void event_loop_lost(struct event_loop *e)
{
	static const char *const what[LOST_MAX] = {
		[LOST_RECORD] = "records lost: the ring buffer was full",
		[LOST_THREAD] = "calls missed: no memory for the state of their thread",
		[LOST_RETURN] = "calls never returned (longjmp, exception or thread exit)",
		[LOST_READ] = "arguments could not be read",
		[LOST_PROCESS] = "process exits or execs missed",
		[LOST_GROUP] = "calls not counted: group table full",
		[LOST_PIECES] = "copy batches too long to sum up: bytes are missing",
		[LOST_STRANGER] = "calls not recorded: too many processes",
	};
	unsigned long long total = 0;

	for (int i = 0; i < LOST_MAX; i++) {
		char *who = losses_text(&e->losses, i);

		total += e->lost_then[i];
		if (e->lost_then[i])
			warning(0, "%llu %s%s", e->lost_then[i], what[i], who);
		free(who);
	}
	if (total && out_is_json()) {
		printf("{\"lost\":%llu,\"processes\":", total);
		losses_json(&e->losses);
		puts("}");
	}
	losses_free(&e->losses);
	out_flush();
}
