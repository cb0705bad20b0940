/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/clock.h"
#include "probe/dso.h"
#include "base/die.h"
#include "sym/kernels.h"
#include "cudalaunchtop/launch_counter.h"
#include "cudalaunchtop/launch_probes.h"
#include "session/target.h"

/* A function that the driver launches while the runtime's probes are in, for longer than a launch
 * takes, is not launched by the runtime.  They do not wait for one that is launched no more. */
static const unsigned long long PERIOD_NS = 1000000000, REFUSED_NS = 10 * 1000000000ull;
enum { IDLE_PERIODS = 10 };

static const struct target *target;
static const unsigned long long *refused;
static unsigned long long refused_before, refused_at;
static unsigned long long looked, in_since;
static unsigned known;		/* counters, when last looked */
static bool wanted;		/* to be put in */

void launch_probes_init(const struct target *t, const unsigned long long *launches_refused)
{
	target = t;
	refused = launches_refused;
}

/* Of the runtime's it is enough to know the driver's function: what that is counted by. */
static bool is_known(const struct counter *c)
{
	if (c->seen.driver)
		return counter_kernel(c) || counter_func(c) != c->key.func;
	return c->seen.paired;
}

/* Could a launch by the runtime tell something about it?  What is not paired never came to the
 * driver, or that is not probed, or was not then. */
static bool is_open(struct counter *c, bool in)
{
	if (c->program->ended || c->key.kind == LAUNCH_GRAPH || c->direct || is_known(c))
		return false;
	counter_pull(c);
	c->program->driven |= c->seen.driver || c->seen.paired;
	c->idle = c->total == c->before ? c->idle + 1 : 0;
	c->before = c->total;
	c->direct = c->seen.driver && !c->idle && in;
	return !c->direct && !is_known(c) && (!c->program->driven || c->idle < IDLE_PERIODS);
}

static bool some_open(bool in)
{
	bool open = false;

	counters_read();
	for (struct counter *c = counters; c; c = c->hh.next)
		open |= is_open(c, in);
	return open;
}

static bool were_refused(unsigned long long now)
{
	if (*refused != refused_before)
		refused_at = now;
	refused_before = *refused;
	return refused_at && now - refused_at < REFUSED_NS;
}

/* False if it has to wait. */
static bool put(bool in)
{
	if (!uprobes_toggle(target, in))
		return false;
	if (target->verbose)
		note(in ? "unknown CUfunction launched: re-attaching the runtime launch probes" :
			  "all launched CUfunctions are known: detaching the runtime launch probes");
	return true;
}

static void look(unsigned long long now)
{
	bool in = uprobes_toggled_in(), new = HASH_COUNT(counters) != known, open;

	if (!in)
		in_since = 0;
	else if (!in_since)
		in_since = now;
	open = some_open(in && looked > in_since);
	looked = now;
	known = HASH_COUNT(counters);
	if (!in)
		wanted = open;
	else if (!open && !new && now - in_since >= PERIOD_NS && !were_refused(now))
		put(false);
}

void launch_probes_tick(void)
{
	unsigned long long now = clock_ns();
	unsigned n = HASH_COUNT(counters);

	if (!target->toggle_classes || !n)
		return;
	if (wanted)	/* as soon as it can be had */
		wanted = !put(true);
	else if (now - looked >= PERIOD_NS || (n != known && !uprobes_toggled_in()))
		look(now);
}
