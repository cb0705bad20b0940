/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <limits.h>
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

static const unsigned long long NS_PER_S = 1000000000, NS_PER_MS = 1000000;

/* How long records are handled before the loop does anything else, and after a signal. */
static const unsigned long long SLICE_NS = 100 * 1000000ull, LAST_NS = 700 * 1000000ull;

/* Static, as a signal handler gets no context. */
static volatile sig_atomic_t stop;

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

/* During a wait for something else: keeps the kernel's buffers from overflowing. */
static bool on_idle(void *ctx)
{
	struct event_loop *e = ctx;

	if (e->stopped)
		return true;
	if (e->target->probes.watch)
		watch_collect(e->target->probes.watch);
	if (!out_is_held_up())
		record_queue_fill(&e->queue, RECORD_QUEUE_MAX);
	return !stop;
}

void event_loop_open(struct event_loop *e, struct target *t)
{
	e->target = t;
	t->looks.helper.idle = on_idle;
	t->looks.helper.ctx = e;
	record_queue_open(&e->queue, e->ring);
	catch_signals();
}

static bool next_record(struct event_loop *e, void **data, size_t *size)
{
	*data = record_queue_next(&e->queue, size);
	if (*data)
		return true;
	record_queue_fill(&e->queue, RECORD_QUEUE_FEW);
	*data = record_queue_next(&e->queue, size);
	return *data;
}

/* Programs may write records faster than we handle them: at last, only those are handled that were
 * there when the loop ended. */
static void handle_records(struct event_loop *e, bool last)
{
	unsigned long long end = e->stopped ? e->stopped + LAST_NS : last ? ~0ull : clock_ns() + SLICE_NS;
	long left = e->ring ? bpf_map__max_entries(e->ring) + RECORD_QUEUE_MAX : 0;
	size_t size;
	void *data;
	int err;

	if (e->stopped) {
		record_queue_fill(&e->queue, RECORD_QUEUE_MAX);
		if (record_queue_bytes(&e->queue) > RECORD_QUEUE_FEW)
			record_queue_favor_few(&e->queue);
	}
	while (left > 0 && clock_ns() < end && (last || (!stop && !out_is_held_up())) &&
	       next_record(e, &data, &size)) {
		left -= size;
		err = e->record(e->ctx, data, size);
		if (err < 0)
			die(err, "cannot handle records");
	}
	if (last && left > 0) {
		record_queue_fill(&e->queue, RECORD_QUEUE_MAX);
		e->lost_then[LOST_LATE] = record_queue_drop(&e->queue);
	}
}

/* From now on, a little time is left for everything. */
static void note_stop(struct event_loop *e)
{
	if (!stop || e->stopped)
		return;
	e->stopped = clock_ns();
	e->target->looks.end = e->stopped + LAST_NS;
}

static void report_at(struct event_loop *e, unsigned long long *next)
{
	e->report(e->ctx);
	*next += e->interval * NS_PER_S;
	if (*next < clock_ns())	/* the loop was blocked: skip the missed reports */
		*next = clock_ns() + e->interval * NS_PER_S;
}

/* Waits for events, and handles them.  Records not read in time are lost, and counted. */
static void handle_events(struct event_loop *e, bool last)
{
	bool wait = !last && !record_queue_bytes(&e->queue), held = !last && out_is_held_up();
	int err = watch_poll(e->target->probes.watch, held ? -1 : record_queue_fd(&e->queue),
			     wait ? POLL_MS : 0);

	if (err)
		die(err, "cannot read records");
	handle_records(e, last);
}

int event_loop_run(struct event_loop *e)
{
	struct target *t = e->target;
	double end = t->duration ? clock_ns() + t->duration * (double)NS_PER_S : 0;
	unsigned long long next = clock_ns() + e->interval * NS_PER_S;
	unsigned long long late;
	long reports = 0;
	bool last = false;

	while (!last) {
		last = stop || target_ended(t) || (end && clock_ns() >= end);
		note_stop(e);
		handle_events(e, last);
		target_tick(t);
		if (e->tick && !e->tick(e->ctx))
			last = true;
		if (e->interval && !last && clock_ns() >= next && !out_is_held_up()) {
			report_at(e, &next);
			last = e->counted_out = ++reports == e->count;
		}
		last |= !out_flush();
	}
	note_stop(e);
	late = e->lost_then[LOST_LATE];
	if (e->lost) {
		memcpy(e->lost_then, e->lost, sizeof(e->lost_then));
		losses_read(&e->losses, e->lost_by);
	}
	e->lost_then[LOST_LATE] = late;
	return stop;
}

long event_loop_time_left(const struct event_loop *e, long ms)
{
	unsigned long long end = e->stopped + ms * NS_PER_MS, now = clock_ns();

	if (!e->stopped)
		return LONG_MAX / NS_PER_MS;
	return now < end ? (end - now) / NS_PER_MS : 0;
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
		[LOST_LATE] = "records not handled: there was no time for them after the signal",
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
