/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* --max-overhead: keeps what probes cost each process below a share of a core, by what it can do without.  A process may save
 * up the budget of ten seconds; when that is spent, the return probes of its kernel launches go, then the probes of launches are
 * attached in short windows only, as often as the budget allows.  They come back when half of the budget suffices.  Processes
 * that share links share this: a group.  docs/architecture.md explains the choice. */
#ifndef BUDGET_PROBE_BUDGET_H
#define BUDGET_PROBE_BUDGET_H
#include <stdbool.h>
#include "budget/launch_estimates.h"
#include "budget/overhead.h"

struct export_maps;
struct probes;

/* For a tool's skeleton; share: of a core. */
#define BUDGET_OF(skel, share_, probes_, maps_) {						\
	.share = share_, .probes = probes_, .maps = maps_,					\
	.overhead = {										\
		.map = (skel)->maps.overhead, .shares = &(skel)->data_overhead_shares->overhead_shares,	\
		.empty = (skel)->progs.cuda_empty,						\
		.attacher = { .obj = (skel)->obj, .kind = (probes_)->attacher.kind },		\
	} }

struct probe_budget {
	/* set first */
	double share;			/* of a core; 0: no limit, and nothing is measured */
	struct probes *probes;
	struct export_maps *maps;	/* of the counts */
	struct overhead overhead;
	/* state */
	struct launch_estimates estimates;
	struct budget_group *groups;
	struct budget_process *processes;
	unsigned long long ticked;	/* ns */
	unsigned long long needed;	/* when a process was last above it, ns */
	bool soon;			/* something is to be done in a few ms */
	unsigned long long unprobed;	/* programs that ended while their launches were not probed, and of which no launch is known */
};

/* Call when the programs are open, with the share that was asked for: sets it to 0 if probes do not trap (--attach inject), and
 * prepares the probes.  Returns overhead_wanted of the programs. */
bool probe_budget_wanted(struct probes *probes, double *share);

/* Call when the programs are loaded. */
void probe_budget_open(struct probe_budget *b);
void probe_budget_free(struct probe_budget *b);

/* Call every few ms while b->soon is set, else at least four times a second. */
void probe_budget_tick(struct probe_budget *b);

/* Call for a process that has made its first call, that has ended. */
void probe_budget_seen(struct probe_budget *b, int pid);
void probe_budget_ended(struct probe_budget *b, int pid);

/* Return the shares of the last minute in which launches of a process's kernels were probed, at their entry and at their
 * return; 1: always. */
struct probe_shares { double entry, returns; };
struct probe_shares probe_budget_shares(const struct probe_budget *b, int pid);

/* Returns the time of a process for its launch_estimate; zeros if it is over, or pays for no probes. */
struct launch_time probe_budget_time(const struct probe_budget *b, int pid);

/* Returns what probes cost a process so far, ns; the second also begins anew, for a program that has ended. */
unsigned long long probe_budget_overhead_ns(const struct probe_budget *b, int pid);
unsigned long long probe_budget_take_overhead(struct probe_budget *b, int pid);

#endif
