/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/die.h"
#include "budget/probe_budget.h"
#include "model/export_maps.h"
#include "probe/launch_gates.h"
#include "probe/probes.h"
#include "budget/split.h"
#include "probe/uprobes.h"

#define MS_NS 1000000ull

/* How often processes are looked at; how long a window lasts, at least; the longest time without one; how long a process has to
 * need little before return probes come back; what it may save up. */
static const unsigned long long TICK_NS = 250 * MS_NS, SOON_NS = 10 * MS_NS, WINDOW_NS = 50 * MS_NS, BLIND_NS = 60000 * MS_NS,
				CALM_NS = 10000 * MS_NS, SAVED_NS = 10000 * MS_NS, SHARE_NS = 30000 * MS_NS,
				SPLIT_NS = 60000 * MS_NS;

/* Of the budget: when more is probed again. */
static const double ENOUGH = .5;

/* Probes come back at three places of a launch: the runtime's function, its return, the driver's function. */
enum { FULL_HITS = 3 };

enum budget_state {
	BUDGET_FULL,	/* everything is attached … */
	BUDGET_MEASURED,	/* … for the last time: launches are measured before that */
	BUDGET_OPEN,	/* entries of launches are attached */
	BUDGET_DRAINED,	/* everything is attached, but launches are not counted: their returns go when they have returned */
	BUDGET_CLOSED,	/* no launches, until `then` can be attached */
};

/* A process with links of its own, or all that share links (pid 0). */
struct budget_group {
	int pid;
	enum budget_state state;
	enum launch_level then;
	bool windows;		/* entries cannot be attached all the time */
	bool full;		/* after this window all is attached again */
	unsigned long long since;	/* the state began, ns */
	unsigned long long opened;	/* the last window, ns */
	double poorest, saved_least;	/* of its processes: the least that one has left; less the cost of a window, ns */
	double load, full_load;	/* the highest load of one, and with all probes */
	unsigned n;		/* processes */
	struct { double all, entry, returns; } shares[2];	/* ns: of the last SHARE_NS, and until now */
	UT_hash_handle hh;
};

struct budget_process {
	int pid;
	double left;		/* of the budget, ns; negative: more than it had was spent */
	double load, launch_load;	/* of a core, in the last interval */
	double window_ns;	/* what it spent since the last window began */
	double spent;		/* … since it is known */
	bool sampled;		/* its launches were, or are */
	struct launch_time opened, seen;	/* when the last window began; if sampled: when it was last looked at */
	UT_hash_handle hh;
};

static struct budget_group *group_find(const struct probe_budget *b, int pid)
{
	struct budget_group *g;

	HASH_FIND_INT(b->groups, &pid, g);
	return g;
}

/* Returns the group of a process; NULL if nothing of it was ever detached. */
static struct budget_group *group_of(const struct probe_budget *b, int pid)
{
	return group_find(b, uprobes_has_own(b->probes, pid) ? pid : 0);
}

static struct budget_group *group_add(struct probe_budget *b, int pid)
{
	struct budget_group *g = group_find(b, pid);

	if (g)
		return g;
	g = xcalloc(1, sizeof(*g));
	g->pid = pid;
	HASH_ADD_INT(b->groups, pid, g);
	return g;
}

static struct budget_process *process_find(const struct probe_budget *b, int pid)
{
	struct budget_process *p;

	HASH_FIND_INT(b->processes, &pid, p);
	return p;
}

/* Returns its last times if it has ended. */
static struct launch_time time_of(const struct budget_process *p)
{
	unsigned long long cpu = clock_process_ns(p->pid);

	return cpu ? (struct launch_time){ clock_ns(), cpu, p->spent } : p->seen;
}

static struct budget_process *process_add(struct probe_budget *b, int pid)
{
	struct budget_process *p = process_find(b, pid);

	if (p)
		return p;
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	p->left = b->share * SAVED_NS;
	HASH_ADD_INT(b->processes, pid, p);
	p->opened = time_of(p);
	return p;
}

/* ---- Launches that are not seen */

struct snapshot {
	struct probe_budget *b;
	const struct budget_group *g;
};

static bool in_group(const struct probe_budget *b, const struct budget_group *g, int pid)
{
	return group_of(b, pid) == g;
}

static bool snapshot_values(void *ctx, const struct export_key *key, const struct export_values *values)
{
	const struct snapshot *s = ctx;

	if (launch_estimates_wants(key))
		launch_estimates_add(&s->b->estimates, key, values->count, in_group(s->b, s->g, key->pid));
	return false;
}

struct launch_time probe_budget_time(const struct probe_budget *b, int pid)
{
	const struct budget_process *p = process_find(b, pid);

	return p ? time_of(p) : (struct launch_time){ 0 };
}

/* Reads the counts of estimates; adds those of the group. */
static void snapshot(struct probe_budget *b, const struct budget_group *g)
{
	struct snapshot s = { b, g };
	const struct export_reader reader = { .ctx = &s, .values = snapshot_values };

	launch_estimates_begin(&b->estimates);
	export_maps_read(b->maps, &reader);
}

/* Reads what estimates are made of, once for each process. */
static void read_group(struct probe_budget *b, const struct budget_group *g)
{
	snapshot(b, g);
	for (struct budget_process *p = b->processes; p; p = p->hh.next)
		if (in_group(b, g, p->pid))
			p->seen = time_of(p);
}

static void window_begins(struct probe_budget *b, struct budget_group *g)
{
	static const struct launch_time unknown;
	const struct budget_process *of;

	read_group(b, g);
	for (struct launch_estimate *e = b->estimates.all; e; e = e->hh.next) {
		if (!in_group(b, g, e->key.pid))
			continue;
		of = process_find(b, e->key.pid);
		launch_estimate_window(e, of ? &of->seen : &unknown);
	}
	g->opened = clock_ns();
	for (struct budget_process *p = b->processes; p; p = p->hh.next) {
		if (!in_group(b, g, p->pid))
			continue;
		p->sampled = true;
		p->window_ns = 0;
		p->opened = p->seen;
	}
}

static void window_ends(struct probe_budget *b, struct budget_group *g)
{
	const struct budget_process *p;

	read_group(b, g);
	for (struct launch_estimate *e = b->estimates.all; e; e = e->hh.next) {
		p = in_group(b, g, e->key.pid) ? process_find(b, e->key.pid) : NULL;
		if (p)
			launch_estimate_gap(e, &p->opened, &p->seen);
	}
}

/* ---- What each process has left */

static void spend(struct probe_budget *b, const struct overhead_process *o, double ns)
{
	struct budget_process *p = process_add(b, o->pid);

	p->load = ns > 0 ? o->ns / ns : 0;
	p->launch_load = ns > 0 ? o->launch_ns / ns : 0;
	p->left += b->share * ns - o->ns;
	p->window_ns += o->ns;
	p->spent += o->ns;
	if (p->sampled)
		p->seen = time_of(p);
	if (p->left > b->share * SAVED_NS)
		p->left = b->share * SAVED_NS;
	if (p->left < -b->share * BLIND_NS)	/* after that time a window begins anyhow: its cost must not keep probes away for longer */
		p->left = -b->share * BLIND_NS;
}

/* Their last gap ends with the process. */
static void close_estimates(struct probe_budget *b, const struct budget_process *p)
{
	for (struct launch_estimate *e = b->estimates.all; e; e = e->hh.next)
		if (e->key.pid == (unsigned)p->pid)
			launch_estimate_window(e, &p->seen);
}

static void probe_budget_forget_ended(struct probe_budget *b)
{
	struct budget_process *p, *next;
	struct budget_group *g, *next_group;

	HASH_ITER(hh, b->processes, p, next) {
		if (overhead_find(&b->overhead, p->pid))
			continue;
		close_estimates(b, p);
		HASH_DEL(b->processes, p);
		free(p);
	}
	HASH_ITER(hh, b->groups, g, next_group) {
		if (!g->pid || (process_find(b, g->pid) && uprobes_has_own(b->probes, g->pid)))
			continue;
		HASH_DEL(b->groups, g);
		free(g);
	}
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

static double most(double a, double b)
{
	return a > b ? a : b;
}

static void sum_up(struct probe_budget *b, struct budget_group *g, const struct budget_process *p)
{
	double window = least(p->window_ns, b->share * SAVED_NS * .9);

	g->n++;
	g->poorest = least(g->poorest, p->left);
	g->saved_least = least(g->saved_least, p->left - window);
	g->load = most(g->load, p->load);
	g->full_load = most(g->full_load, p->load + (FULL_HITS - 1) * p->launch_load);
}

static void read_processes(struct probe_budget *b)
{
	double ns = overhead_read(&b->overhead);
	bool busy = false;

	for (struct overhead_process *o = b->overhead.all; o; o = o->hh.next)
		spend(b, o, ns);
	probe_budget_forget_ended(b);
	for (struct budget_group *g = b->groups; g; g = g->hh.next) {
		g->poorest = g->saved_least = b->share * SAVED_NS;
		g->load = g->full_load = 0;
		g->n = 0;
	}
	for (struct budget_process *p = b->processes; p; p = p->hh.next) {
		sum_up(b, group_add(b, uprobes_has_own(b->probes, p->pid) ? p->pid : 0), p);
		busy |= p->load > b->share / 4;
	}
	if (busy)
		overhead_measure(&b->overhead);
}

/* Clears the overspend from before detaching: sampling windows have their own budget. */
static void forgive(struct probe_budget *b, const struct budget_group *g)
{
	for (struct budget_process *p = b->processes; p; p = p->hh.next)
		if (p->left < 0 && in_group(b, g, p->pid))
			p->left = 0;
}

/* ---- What is attached */

static void enter(struct budget_group *g, enum budget_state state)
{
	g->state = state;
	g->since = clock_ns();
}

static void close_group(struct probe_budget *b, struct budget_group *g, enum launch_level then)
{
	uprobes_shed(b->probes, g->pid, LAUNCHES_OUT);
	window_ends(b, g);
	g->then = then;
	enter(g, BUDGET_CLOSED);
}

static void full(struct probe_budget *b, struct budget_group *g)
{
	if (g->poorest >= 0)
		return;
	b->needed = clock_ns();
	if (!g->pid && split_begin(b->probes))	/* only those above it are to lose probes */
		return;
	window_begins(b, g);
	enter(g, BUDGET_MEASURED);
}

static void measured(struct probe_budget *b, struct budget_group *g, unsigned long long now)
{
	if (now - g->since < WINDOW_NS)
		return;
	launch_gate_close(b->probes, g->pid, true);
	window_ends(b, g);
	enter(g, BUDGET_DRAINED);
}

static void drained(struct probe_budget *b, struct budget_group *g, unsigned long long now)
{
	if (now - g->since < LAUNCH_DRAIN_NS)
		return;
	forgive(b, g);
	g->windows = false;
	g->then = LAUNCHES_ENTRIES;
	uprobes_shed(b->probes, g->pid, LAUNCHES_OUT);
	enter(g, BUDGET_CLOSED);
}

/* Return true if processes that had to share links may be fewer: all is attached again, and full() gives each its own. */
static bool may_split(const struct probe_budget *b, const struct budget_group *g)
{
	return !g->pid && split_again(b->probes);
}

/* Entries are attached all the time. */
static void continuous(struct probe_budget *b, struct budget_group *g, unsigned long long now)
{
	bool calm = !g->n || (g->full_load < b->share * ENOUGH && g->saved_least > 0 && now - g->since >= CALM_NS) ||
		    may_split(b, g);

	if (g->poorest >= 0 && !calm)
		return;
	g->windows = true;
	g->full = calm;
	window_begins(b, g);
	enter(g, BUDGET_OPEN);
}

/* The highest load of a process in this window. */
static double window_load(const struct probe_budget *b, const struct budget_group *g, unsigned long long now)
{
	double ns = 0;

	for (const struct budget_process *p = b->processes; p; p = p->hh.next)
		if (in_group(b, g, p->pid))
			ns = most(ns, p->window_ns);
	return ns / (now - g->opened);
}

static void open_window(struct probe_budget *b, struct budget_group *g, unsigned long long now)
{
	if (now - g->since < WINDOW_NS)
		return;
	if (g->full || may_split(b, g)) {
		g->windows = g->full = false;
		close_group(b, g, LAUNCHES_FULL);
	} else if (window_load(b, g, now) < b->share * ENOUGH && g->poorest >= 0) {
		g->windows = false;
		enter(g, BUDGET_OPEN);
	} else {
		close_group(b, g, LAUNCHES_ENTRIES);
	}
}

static void closed(struct probe_budget *b, struct budget_group *g, unsigned long long now)
{
	if (g->windows && g->saved_least < 0 && now - g->since < BLIND_NS)
		return;
	if (!uprobes_shed(b->probes, g->pid, g->then))
		return;
	if (g->then == LAUNCHES_FULL)
		launch_gate_close(b->probes, g->pid, false);
	window_begins(b, g);
	enter(g, g->then == LAUNCHES_FULL ? BUDGET_FULL : BUDGET_OPEN);
}

static void step(struct probe_budget *b, struct budget_group *g, unsigned long long now)
{
	switch (g->state) {
	case BUDGET_FULL:
		full(b, g);
		break;
	case BUDGET_MEASURED:
		measured(b, g, now);
		break;
	case BUDGET_OPEN:
		(g->windows ? open_window : continuous)(b, g, now);
		break;
	case BUDGET_DRAINED:
		drained(b, g, now);
		break;
	case BUDGET_CLOSED:
		closed(b, g, now);
		break;
	}
}

static bool is_soon(const struct budget_group *g)
{
	return g->state == BUDGET_MEASURED || g->state == BUDGET_DRAINED || (g->state == BUDGET_OPEN && g->windows) ||
	       (g->state == BUDGET_CLOSED && (!g->windows || g->saved_least >= 0));
}

static void count_shares(struct budget_group *g, double ns)
{
	if (g->shares[1].all > SHARE_NS) {
		g->shares[0] = g->shares[1];
		memset(&g->shares[1], 0, sizeof(g->shares[1]));
	}
	g->shares[1].all += ns;
	if (g->state <= BUDGET_OPEN)
		g->shares[1].entry += ns;
	if (g->state <= BUDGET_MEASURED)
		g->shares[1].returns += ns;
}

bool probe_budget_wanted(struct probes *probes, double *share)
{
	if (probes->attacher.kind == ATTACH_INJECT)
		*share = 0;
	probes->sheds = *share > 0;
	return probes->sheds;
}

void probe_budget_open(struct probe_budget *b)
{
	if (b->share)
		overhead_open(&b->overhead);
	b->ticked = clock_ns();
}

void probe_budget_tick(struct probe_budget *b)
{
	unsigned long long now = clock_ns(), ns = now - b->ticked;

	if (!b->share || ns < (b->soon ? SOON_NS : TICK_NS))
		return;
	split_tick(b->probes);
	b->ticked = now;
	for (struct budget_group *g = b->groups; g; g = g->hh.next)
		count_shares(g, ns);
	read_processes(b);
	b->soon = false;
	for (struct budget_group *g = b->groups; g; g = g->hh.next) {
		step(b, g, now);
		b->soon |= is_soon(g);
		if (g->state != BUDGET_FULL)
			b->needed = now;
	}
	if (now - b->needed >= SPLIT_NS)
		split_end(b->probes);
}

void probe_budget_seen(struct probe_budget *b, int pid)
{
	if (b->share)
		split_seen(b->probes, pid);
}

/* Return true if launches of the process are not counted now, and none was before. */
static bool is_unprobed(const struct probe_budget *b, int pid)
{
	const struct budget_group *g = group_of(b, pid);

	if (!g || g->state <= BUDGET_OPEN)
		return false;
	for (const struct launch_estimate *e = b->estimates.all; e; e = e->hh.next)
		if (e->key.pid == (unsigned)pid)
			return false;
	return true;
}

void probe_budget_ended(struct probe_budget *b, int pid)
{
	struct budget_group *g = group_find(b, pid);

	if (!b->share)
		return;
	b->unprobed += is_unprobed(b, pid);
	split_ended(b->probes, pid);
	if (!g || !split_is_on(b->probes))
		return;
	HASH_DEL(b->groups, g);	/* the next program's links are new */
	free(g);
}

struct probe_shares probe_budget_shares(const struct probe_budget *b, int pid)
{
	const struct budget_group *g = b->share ? group_of(b, pid) : NULL;
	double all = g ? g->shares[0].all + g->shares[1].all : 0;

	if (all <= 0)
		return (struct probe_shares){ 1, 1 };
	return (struct probe_shares){
		.entry = (g->shares[0].entry + g->shares[1].entry) / all,
		.returns = (g->shares[0].returns + g->shares[1].returns) / all,
	};
}

unsigned long long probe_budget_overhead_ns(const struct probe_budget *b, int pid)
{
	const struct overhead_process *p = b->share ? overhead_find(&b->overhead, pid) : NULL;

	return p ? p->total : 0;
}

unsigned long long probe_budget_take_overhead(struct probe_budget *b, int pid)
{
	unsigned long long ns = probe_budget_overhead_ns(b, pid);

	if (ns)
		overhead_find(&b->overhead, pid)->total = 0;
	return ns;
}

void probe_budget_free(struct probe_budget *b)
{
	HASH_FREE(b->processes);
	HASH_FREE(b->groups);
	launch_estimates_free(&b->estimates);
	if (b->share)
		overhead_free(&b->overhead);
}
