/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <limits.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "base/clock.h"
#include "base/die.h"
#include "cli/out.h"
#include "probe/watch.h"
#include "proc/command.h"
#include "proc/signals.h"
#include "session/backend.h"
#include "session/event_loop.h"
#include "session/session.h"

/* The probes do not wake the reader for each record: that would double their cost. */
enum { POLL_MS = 10 };

static const unsigned long long NS_PER_MS = 1000000;

/* Without events for this long, nothing is expected. */
static const unsigned long long CALM_NS = 500 * 1000000ull;

/* A command that has got a signal usually ends in less. */
static const unsigned long long AWAITS_NS = 1000 * 1000000ull;

/* How long records are handled after a signal, and the first ones, of processes that have few. */
static const unsigned long long LAST_NS = 700 * 1000000ull, FEW_NS = 1200 * 1000000ull;
enum { LAST_FEW = 4096 };

/* During a wait for something else: keeps the kernel's buffers from overflowing. */
static bool on_idle(void *ctx)
{
	struct event_loop *e = ctx;

	progress_tick(&e->session->progress);
	if (e->stopped)
		return true;
	if (e->session->probes.watch)
		watch_collect(e->session->probes.watch);
	if (!out_is_held_up())
		record_queue_fill(e->queue, RECORD_QUEUE_MAX);
	return !signal_caught();
}

void event_loop_open(struct event_loop *e, struct session *t)
{
	e->session = t;
	t->helpers.helper.idle = on_idle;
	t->helpers.helper.ctx = e;
	e->queue = &t->records;
	e->queue->handle = e->record;
	e->queue->ctx = e->ctx;
	e->queue->syms = t->syms;
	e->queue->processes = &t->processes;
	if (t->backend->open)
		t->backend->open(t, e->ring);
	else
		record_queue_open(e->queue, e->ring);
	signals_catch(t->command);
}

/* After a signal, a little time is left for all that follows. */
static void note_stop(struct event_loop *e)
{
	if (!signal_caught() || e->stopped)
		return;
	e->stopped = clock_ns();
	e->session->progress.hidden = true;	/* it ends before there is much to report */
	helper_pool_end(&e->session->helpers, LAST_NS);
}

/* The command gets the first signal, and is traced to its end, as by strace(1). */
static void pass_signal(struct event_loop *e)
{
	const struct session *t = e->session;
	int sig = signal_passed();

	if (!sig)
		return;
	if (!e->passed) {
		process_signalled(&t->processes, false);
		if (t->backend->signal)
			t->backend->signal(t, sig);
		e->passed = clock_ns();
	}
	if (!e->awaits && !t->live && clock_ns() - e->passed >= AWAITS_NS) {
		e->awaits = true;
		note("waiting for the end of '%s' (another signal ends tracing)", t->command);
	}
}

/* n: records that have been handled. */
static bool has_time(struct event_loop *e, int n)
{
	note_stop(e);
	return !e->stopped || clock_ns() < e->stopped + (n < LAST_FEW ? FEW_NS : LAST_NS);
}

static void drop_late(void *ctx, unsigned pid, unsigned long n)
{
	struct event_loop *e = ctx;

	losses_add(&e->losses, pid, LOST_LATE, n);
}

/* Programs may write records faster than the tool handles them: in the end, and before the last report,
 * only those are handled that were there then. */
static void handle_last(struct event_loop *e)
{
	long size = e->ring ? bpf_map__max_entries(e->ring) : 0, left = size + RECORD_QUEUE_MAX;
	const bool stopped = e->stopped;
	int n = 0;

	if (stopped)		/* all that is in the ring buffer, after the queue */
		record_queue_fill(e->queue, e->queue->tail + size);
	if (stopped && record_queue_bytes(e->queue) > RECORD_QUEUE_FEW)
		record_queue_favor_few(e->queue);
	while ((n++ % RECORD_QUEUE_CLOCK || has_time(e, n)) && record_queue_handle(e->queue, &left))
		;
	if (!e->stopped)
		return;
	record_queue_fill(e->queue, stopped ? RECORD_QUEUE_MAX : e->queue->tail + size);
	e->lost_then[LOST_LATE] = record_queue_drop(e->queue, drop_late, e);
}

/* Reports after each interval.  Returns true if that was the last one. */
static bool report_at(struct event_loop *e, unsigned long long *next, long *reports)
{
	if (!e->interval_ns || clock_ns() < *next || out_is_held_up())
		return false;
	if (++*reports == e->count && e->session->backend->reads_late)
		return true;
	if (*reports == e->count)
		handle_last(e);
	e->report(e->ctx);
	e->counted_out = *reports == e->count;
	*next += e->interval_ns;
	if (*next < clock_ns())	/* the loop was blocked: skip the missed reports */
		*next = clock_ns() + e->interval_ns;
	return e->counted_out;
}

/* How long to wait for events.  The command's end is none.  Records that do not wake the reader are few:
 * see records_wakeup(). */
static long poll_ms(const struct event_loop *e, bool last)
{
	if (last || record_queue_bytes(e->queue))
		return 0;
	if (!e->calm_ms || e->session->command || clock_ns() - e->happened < CALM_NS)
		return POLL_MS;
	return e->calm_ms;
}

/* Waits for events, and handles them.  Records not read in time are lost, and counted. */
static void handle_events(struct event_loop *e, bool last)
{
	struct backend_wait w = {
		.records = !last && out_is_held_up() ? -1 : record_queue_fd(e->queue),
		.wake = e->calm_ms ? e->wake : -1, .ms = poll_ms(e, last), .last = last,
	};
	int got = e->session->backend->serve(e->session, &w);

	if (got < 0)
		die(got, "cannot read records");
	if (got || record_queue_bytes(e->queue))	/* injected programs do not wake the tool: check the ring, too */
		e->happened = clock_ns();
	if (last)
		handle_last(e);
	else
		record_queue_handle_some(e->queue);
}

int event_loop_run(struct event_loop *e)
{
	struct session *t = e->session;
	double end = t->duration_ns ? clock_ns() + (double)t->duration_ns : 0;
	unsigned long long next = clock_ns() + e->interval_ns;
	unsigned long long late;
	long reports = 0;
	bool last = false;

	while (!last) {
		progress_begin(&t->progress);
		t->progress.hidden = e->stopped || t->live;
		pass_signal(e);
		last = signal_caught() || session_ended(t) || (end && clock_ns() >= end);
		note_stop(e);
		handle_events(e, last);
		if (t->backend->tick)
			t->backend->tick(t);
		if (e->tick && !e->tick(e->ctx))
			last = true;
		last = last || report_at(e, &next, &reports);
		last |= !out_flush();
	}
	note_stop(e);
	if (e->passed && command_killed())
		process_signalled(&t->processes, true);
	if (t->backend->drain)
		t->backend->drain(t, signal_caught());
	late = e->lost_then[LOST_LATE];
	if (e->lost) {
		memcpy(e->lost_then, e->lost, sizeof(e->lost_then));
		losses_read(&e->losses, e->lost_by);
	}
	e->lost_then[LOST_LATE] = late;
	return signal_caught();
}

long event_loop_time_left(const struct event_loop *e, long ms)
{
	unsigned long long end = e->stopped + ms * NS_PER_MS, now = clock_ns();

	if (!e->stopped)
		return LONG_MAX / NS_PER_MS;
	return now < end ? (end - now) / NS_PER_MS : 0;
}
