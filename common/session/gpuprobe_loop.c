/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include "base/clock.h"
#include "base/die.h"
#include "cli/out.h"
#include "session/command.h"
#include "session/gpuprobe_loop.h"
#include "session/signals.h"

/* Nobody tells of the command's end. */
enum { POLL_MS = 20 };

/* Of the two seconds from a signal to the end: for what programs send when they end. */
enum { SIGNAL_MS = 1300 };

/* For what had come when the duration ended; a process may send without end. */
enum { LEFT_MS = 300 };

/* How long is waited for more once the command has ended; processes that it left behind are cut off then. */
enum { AFTER_MS = 100 };

static const unsigned long long NS_PER_MS = 1000000, LAST_NS = 2000000000;

/* What processes had sent when the loop ended, and what those send that a signal ends. */
static void read_rest(struct gpuprobe_loop *loop)
{
	unsigned long long begun = clock_ns(), end = begun + LAST_NS;

	if (loop->signal) {
		int group = command_signal(loop->signal);

		gpuprobe_peers_signal(loop->peers, loop->signal, loop->pid, group);
		end = begun + SIGNAL_MS * NS_PER_MS;
	}
	while (clock_ns() < end) {
		bool ended = command_ended();

		if (!ended && !loop->signal && clock_ns() > begun + LEFT_MS * NS_PER_MS)
			break;
		if (!gpuprobe_peers_poll(loop->peers, ended ? AFTER_MS : POLL_MS) && (ended || !loop->signal))
			break;
		if (ended && !loop->peers->n)
			break;
	}
}

/* Return true if the loop is to end. */
static bool report_at(struct gpuprobe_loop *loop, unsigned long long *next, long *reports)
{
	const struct gpuprobe_options *g = loop->options;

	if (!g->interval_ns || clock_ns() < *next || out_is_held_up())
		return false;
	if (++*reports == g->count)	/* the tool's end is the last */
		return true;
	loop->report(loop->ctx);
	*next += g->interval_ns;
	if (*next < clock_ns())	/* the loop was blocked: skip the missed reports */
		*next = clock_ns() + g->interval_ns;
	return false;
}

void gpuprobe_loop_run(struct gpuprobe_loop *loop)
{
	const struct gpuprobe_options *g = loop->options;
	unsigned long long begun, next, end;
	bool last = false;
	long reports = 0;

	signals_catch();
	command_go();
	begun = clock_ns();
	next = begun + g->interval_ns;
	end = g->duration_ns ? begun + g->duration_ns : ULLONG_MAX;
	while (!last) {
		last = signal_caught() || clock_ns() >= end || command_ended();
		if (!last)
			gpuprobe_peers_poll(loop->peers, POLL_MS);
		last |= report_at(loop, &next, &reports);
		last |= !out_flush();
	}
	loop->signal = signal_caught();
	read_rest(loop);
}

int gpuprobe_loop_status(const struct gpuprobe_loop *loop, const char *command)
{
	const struct timespec pause = { 0, NS_PER_MS };

	for (int ms = SIGNAL_MS; loop->signal && ms > 0 && !command_ended(); ms--)
		nanosleep(&pause, NULL);
	if (!loop->signal || command_ended())
		return command_finish();
	note("'%s' still runs (pid %d)", command, loop->pid);
	return 128 + loop->signal;
}
