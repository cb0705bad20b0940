/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/clock.h"
#include "budget/split.h"
#include "probe/launch_gates.h"
#include "probe/probes.h"
#include "probe/scan.h"
#include "probe/share.h"
#include "probe/uprobes.h"

/* How long links stay in all processes when there were too many: at first, and at most, as each try attaches to all. */
static const unsigned long long AGAIN_NS = 60000000000ull, AGAIN_LATEST_NS = 3600000000000ull;

static bool is_crowded(const struct probes *p)
{
	return uprobes_crowded(p, share_at(p));
}

/* How long after now it is not tried again. */
static unsigned long long next_pause(const struct probes *p, unsigned long long now)
{
	if (now - p->split.began > p->split.pause)
		return AGAIN_NS;
	return p->split.pause < AGAIN_LATEST_NS / 2 ? p->split.pause * 2 : AGAIN_LATEST_NS;
}

/* The links for all count again. */
static void undo(struct probes *p)
{
	unsigned long long now = clock_ns();

	p->split.on = false;
	p->split.drains = p->split.ended = now;
	p->split.pause = next_pause(p, now);
	launch_gates_clear(p);
}

static bool is_time(const struct probes *p)
{
	return !p->split.crowded || clock_ns() - p->split.ended >= p->split.pause;
}

bool split_begin(struct probes *p)
{
	if (p->split.on)
		return true;
	if (p->pids || p->on_dso || p->attacher.kind == ATTACH_INJECT || p->split.drains || !is_time(p))
		return false;
	p->split.on = true;
	p->split.crowded = false;
	p->split.began = clock_ns();
	scan_all(p);
	p->split.crowded |= is_crowded(p) || p->failure.text;
	if (p->split.crowded)
		undo(p);
	else
		p->split.drains = clock_ns();
	return p->split.on;
}

bool split_again(const struct probes *p)
{
	return !p->split.on && p->split.crowded && is_time(p);
}

void split_end(struct probes *p)
{
	if (!p->split.on) {
		p->split.crowded = false;
		p->split.pause = 0;
	} else if (!p->split.drains && uprobes_shed(p, 0, LAUNCHES_FULL)) {
		undo(p);
	}
}

bool split_is_on(const struct probes *p)
{
	return p->split.on;
}

void split_tick(struct probes *p)
{
	if (p->split.on && (p->split.crowded || is_crowded(p))) {
		p->split.crowded = true;
		split_end(p);
	}
	if (!p->split.drains || clock_ns() - p->split.drains < LAUNCH_DRAIN_NS)
		return;
	p->split.drains = 0;
	if (p->split.on)
		uprobes_shed(p, 0, LAUNCHES_OUT);
	else
		uprobes_drop_own(p);
}

void split_seen(struct probes *p, int pid)
{
	if (p->split.on && !uprobes_has_own(p, pid))
		scan_process(p, pid);
}

void split_ended(struct probes *p, int pid)
{
	launch_gate_drop(p, pid);
	if (p->split.on)
		uprobes_detach(p, pid);
}
