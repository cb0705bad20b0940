/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "abi/agent_resident.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/hash.h"
#include "base/util.h"
#include "inject/inject_peers.h"
#include "inject/resident_search.h"
#include "proc/proc.h"
#include "proc/signals.h"

/* How often processes are looked for, all of a user's; one that has no memory yet less often the longer it has been there, at
 * least every SELDOM_NS. */
static const unsigned long long SCAN_NS = 500 * 1000000ull, SELDOM_NS = 5 * 1000000000ull;

/* A process that connects and has no memory is not looked at again for so long. */
static const unsigned long long HASTE_NS = 50 * 1000000ull;

/* How long the first turn may take. */
static const unsigned long long FIRST_TURN_NS = 1000 * 1000000ull;

enum { MOST = 16384 };	/* processes that are asked */

/* A process of the user's that is not one of them. */
struct resident_candidate {
	int pid;
	unsigned long long first, looked, came;	/* came: it connected; ns */
	unsigned scan;		/* the last one that saw it */
	bool warned;		/* why it cannot be asked */
	UT_hash_handle hh;
};

static struct resident *make(void)
{
	struct resident *r = xcalloc(1, sizeof(*r));

	resident_processes_open(&r->processes);
	return r;
}

static void candidate_drop(struct resident *r, struct resident_candidate *c)
{
	HASH_DEL(r->candidates, c);
	free(c);
}

static void forget(struct resident *r)
{
	struct resident_candidate *c, *next;

	resident_processes_close(&r->processes);
	HASH_ITER(hh, r->candidates, c, next)
		candidate_drop(r, c);
	free(r->pids);
	free(r);
}

char *resident_open(struct resident **result, const int *pids)
{
	struct resident *r = make();
	char *why = NULL;
	bool has;

	for (int i = 0; pids[i] && !why; i++)
		why = resident_processes_add(&r->processes, pids[i], &has);
	if (why)
		forget(r);
	else
		*result = r;
	return why;
}

static struct resident_candidate *candidate(struct resident *r, int pid)
{
	struct resident_candidate *c;

	HASH_FIND_INT(r->candidates, &pid, c);
	if (c)
		return c;
	c = xcalloc(1, sizeof(*c));
	c->pid = pid;
	c->first = clock_ns();
	HASH_ADD_INT(r->candidates, pid, c);
	return c;
}

static void try(struct resident *r, struct resident_candidate *c)
{
	bool has;
	char *why = resident_processes_add(&r->processes, c->pid, &has);

	c->looked = clock_ns();
	if (!why) {
		candidate_drop(r, c);
		return;
	}
	if (has && !c->warned) {
		resident_processes_warn(&r->processes, c->pid, strchr(why, ':') + 2);
		c->warned = true;
	}
	free(why);
}

/* Processes that have connected are handled by inject_peers. */
static void scan_process(struct resident *r, int pid)
{
	const struct resident_process *p = resident_processes_find(&r->processes, pid);
	struct resident_candidate *c;
	unsigned long long now = clock_ns(), wait;

	if (p && !p->connected) {
		resident_processes_executed(&r->processes, pid);
		p = resident_processes_find(&r->processes, pid);
	}
	if (p || r->processes.n >= MOST)
		return;
	c = candidate(r, pid);
	c->scan = r->scans;
	wait = (c->looked - c->first) / 4;
	if (!c->looked || now - c->looked >= (wait < SELDOM_NS ? wait : SELDOM_NS))
		try(r, c);
}

/* The name may be taken: by another tool, or by an attacker. */
static void await(struct resident *r)
{
	const struct resident_processes *p = &r->processes;
	char name[40] = "";
	bool taken;

	if (!p->all || p->peers->awaits)
		return;
	resident_awaits(name, p->user);
	taken = !inject_peers_await(p->peers, name);
	if (taken && !r->name_taken)
		warning(0, "another process listens for programs that start: they are found within seconds, and their first calls are missed");
	r->name_taken |= taken;
}

static void list(void *ctx, int pid)
{
	struct resident *r = ctx;

	r->pids = xrealloc(r->pids, r->pids_n + 1, sizeof(*r->pids));
	r->pids[r->pids_n++] = pid;
}

static void scan_begin(struct resident *r)
{
	if (r->processes.peers)
		await(r);
	r->scanned = clock_ns();
	r->scans++;
	r->pids_n = r->pids_at = 0;
	proc_each(list, r);
}

/* Goes on with those that were listed, for so long. */
static void scan(struct resident *r, unsigned long long ns)
{
	struct resident_candidate *c, *next;
	unsigned long long end = clock_ns() + ns;

	while (r->pids_at < r->pids_n && clock_ns() < end && !signal_caught())
		scan_process(r, r->pids[r->pids_at++]);
	if (r->pids_at < r->pids_n)
		return;
	HASH_ITER(hh, r->candidates, c, next)
		if (c->scan != r->scans)
			candidate_drop(r, c);
}

struct resident *resident_open_all(uid_t user, unsigned long long cgroup)
{
	struct resident *r = make();

	r->processes.all = true;
	r->processes.user = user;
	r->processes.cgroup = cgroup;
	scan_begin(r);
	scan(r, FIRST_TURN_NS);
	return r;
}

void resident_ask(struct resident *r, const char *library, struct inject_peers *peers)
{
	resident_processes_ask(&r->processes, library, peers);
	await(r);
}

static void come(struct resident *r, int pid)
{
	struct resident_candidate *c = candidate(r, pid);
	unsigned long long now = clock_ns();

	if (c->came && now - c->came < HASTE_NS)
		return;
	c->came = now;
	try(r, c);
}

bool resident_takes(struct resident *r, int pid, int parent)
{
	struct resident_processes *processes = &r->processes;
	const struct resident_process *from = processes->all && parent ? resident_processes_find(processes, parent) : NULL;

	if (!processes->all)
		return !parent && resident_processes_find(processes, pid);
	if (resident_processes_find(processes, pid))
		return true;
	if (processes->n >= MOST)
		return false;
	if (from)
		resident_processes_add_child(processes, pid, from);
	else
		come(r, pid);
	return resident_processes_find(processes, pid);
}

void resident_came(struct resident *r, int pid)
{
	resident_processes_executed(&r->processes, pid);
	if (!resident_processes_find(&r->processes, pid) && r->processes.n < MOST)
		come(r, pid);
}

bool resident_is_scanning(const struct resident *r)
{
	return r->pids_at < r->pids_n;
}

void resident_tick(struct resident *r)
{
	resident_processes_tick(&r->processes);
	if (r->processes.all && !resident_is_scanning(r) && clock_ns() - r->scanned >= SCAN_NS)
		scan_begin(r);
	if (resident_is_scanning(r))
		scan(r, RESIDENT_TURN_NS);
}

void resident_close(struct resident *r)
{
	if (!r)
		return;
	resident_processes_end(&r->processes);
	forget(r);
}
