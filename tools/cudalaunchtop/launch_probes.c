/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/clock.h"
#include "probe/uprobes.h"
#include "base/die.h"
#include "cudalaunchtop/launch_probes.h"
#include "model/launches.h"
#include "session/session.h"

/* A function still launched in the driver while the runtime's probes have been attached for longer
 * than a launch takes is not launched by the runtime.  The probes do not wait for a function that
 * is no longer launched. */
static const unsigned long long PERIOD_NS = 1000000000, REFUSED_NS = 10 * 1000000000ull;
enum { IDLE_PERIODS = 10 };

void launch_probes_init(struct launch_probes *p, struct session *t, struct launches *l,
			const unsigned long long *refused)
{
	*p = (struct launch_probes){ .session = t, .launches = l, .refused = refused };
}

/* A runtime launch is known once its driver function is, by which it can then be counted. */
static bool is_known(const struct counter *c)
{
	if (c->seen.driver)
		return counter_kernel(c) || counter_func(c) != c->key.func;
	return c->seen.paired;
}

/* Return true if a launch by the runtime could still identify the function.  An unpaired one never
 * reached the driver, or the driver is not probed or was not at the time. */
static bool is_open(struct counters *cs, struct counter *c, bool in)
{
	if (c->fixed || c->program->over || c->key.kind == LAUNCH_GRAPH || c->direct || is_known(c))
		return false;
	counter_pull(cs, c);
	c->program->driven |= c->seen.driver || c->seen.paired;
	c->idle = c->total.launches == c->before ? c->idle + 1 : 0;
	c->before = c->total.launches;
	c->direct = c->seen.driver && !c->idle && in;
	return !c->direct && !is_known(c) && (!c->program->driven || c->idle < IDLE_PERIODS);
}

static bool some_open(struct counters *cs, bool in)
{
	bool open = false;

	for (struct counter *c = cs->all; c; c = c->hh.next)
		open |= is_open(cs, c, in);
	return open;
}

static bool were_refused(struct launch_probes *p, unsigned long long now)
{
	if (*p->refused != p->refused_before)
		p->refused_at = now;
	p->refused_before = *p->refused;
	return p->refused_at && now - p->refused_at < REFUSED_NS;
}

/* Returns false if it has to wait. */
static bool put(const struct launch_probes *p, bool in)
{
	if (!uprobes_toggle(&p->session->probes, in))
		return false;
	if (p->session->verbose)
		note(in ? "unknown CUfunction launched: re-attaching the runtime launch probes" :
			  "all launched CUfunctions are known: detaching the runtime launch probes");
	return true;
}

static void inspect(struct launch_probes *p, unsigned long long now)
{
	struct counters *cs = &p->launches->counters;
	bool in = uprobes_toggled_in(&p->session->probes), new = cs->made != p->known, open;

	if (!in)
		p->in_since = 0;
	else if (!p->in_since)
		p->in_since = now;
	open = some_open(cs, in && p->looked > p->in_since);
	p->looked = now;
	p->known = cs->made;
	if (!in)
		p->wanted = open;
	else if (!open && !new && now - p->in_since >= PERIOD_NS && !were_refused(p, now))
		put(p, false);
}

void launch_probes_tick(struct launch_probes *p)
{
	unsigned long long now = clock_ns();
	const struct counters *cs = &p->launches->counters;

	if (!p->session->probes.detachable_classes || !cs->made)
		return;
	if (p->wanted)	/* as soon as possible */
		p->wanted = !put(p, true);
	else if (now - p->looked >= PERIOD_NS ||
		 (cs->made != p->known && !uprobes_toggled_in(&p->session->probes)))
		inspect(p, now);
}
