/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/clock.h"
#include "base/die.h"
#include "cudalaunchtop/launch_probes.h"
#include "model/launches.h"
#include "probe/uprobes.h"
#include "session/session.h"

/* A function that is still launched in the driver, although the runtime's probes have been attached
 * for longer than a launch takes, is not launched by the runtime.  The probes do not remain for a
 * function that is no longer launched. */
static const unsigned long long PERIOD_NS = 1000000000, REFUSED_NS = 10 * 1000000000ull;
enum { IDLE_PERIODS = 10 };

void launch_probes_init(struct launch_probes *p, struct session *t, struct launches *l,
			const unsigned long long *refused)
{
	*p = (struct launch_probes){ .session = t, .launches = l, .refused = refused };
}

/* A launch by the runtime is identified by its driver function, by which it can then be counted. */
static bool is_identified(const struct counter *c)
{
	if (c->seen.driver)
		return counter_kernel(c) || counter_func(c) != c->key.func;
	return c->seen.paired;
}

/* Returns true if a launch by the runtime could still identify the function.  An unpaired one never
 * reached the driver, or the driver was not probed. */
static bool is_identifiable(struct counters *cs, struct counter *c, bool attached)
{
	if (c->fixed || c->program->over || c->key.kind == LAUNCH_GRAPH || c->direct || is_identified(c))
		return false;
	counter_pull(cs, c);
	c->program->driven |= c->seen.driver || c->seen.paired;
	c->idle = c->total.launches == c->before ? c->idle + 1 : 0;
	c->before = c->total.launches;
	c->direct = c->seen.driver && !c->idle && attached;
	return !c->direct && !is_identified(c) && (!c->program->driven || c->idle < IDLE_PERIODS);
}

static bool any_identifiable(struct counters *cs, bool attached)
{
	bool any = false;

	for (struct counter *c = cs->all; c; c = c->hh.next)
		any |= is_identifiable(cs, c, attached);
	return any;
}

static bool were_refused(struct launch_probes *p, unsigned long long now)
{
	if (*p->refused != p->refused_before)
		p->refused_at = now;
	p->refused_before = *p->refused;
	return p->refused_at && now - p->refused_at < REFUSED_NS;
}

/* Attaches or detaches the runtime's probes; returns false if that has to wait. */
static bool toggle(const struct launch_probes *p, bool attach)
{
	if (!uprobes_toggle(&p->session->probes, attach))
		return false;
	if (p->session->verbose)
		note(attach ? "unknown CUfunction launched: re-attaching the runtime launch probes" :
			      "all launched CUfunctions are known: detaching the runtime launch probes");
	return true;
}

static void check(struct launch_probes *p, unsigned long long now)
{
	struct counters *cs = &p->launches->counters;
	bool attached = uprobes_toggled_in(&p->session->probes), new = cs->made != p->made, needed;

	if (!attached)
		p->attached_since = 0;
	else if (!p->attached_since)
		p->attached_since = now;
	needed = any_identifiable(cs, attached && p->checked > p->attached_since);
	p->checked = now;
	p->made = cs->made;
	if (!attached)
		p->wanted = needed;
	else if (!needed && !new && now - p->attached_since >= PERIOD_NS && !were_refused(p, now))
		toggle(p, false);
}

void launch_probes_tick(struct launch_probes *p)
{
	unsigned long long now = clock_ns();
	const struct counters *cs = &p->launches->counters;

	if (!p->session->probes.detachable_classes || !cs->made)
		return;
	if (p->wanted)	/* as soon as possible */
		p->wanted = !toggle(p, true);
	else if (now - p->checked >= PERIOD_NS ||
		 (cs->made != p->made && !uprobes_toggled_in(&p->session->probes)))
		check(p, now);
}
