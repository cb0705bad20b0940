/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/clock.h"
#include "base/die.h"
#include "model/launch_find.h"
#include "model/launch_retire.h"
#include "model/launches.h"
#include "proc/proc.h"

/* How often keys are looked for whose records were lost, if that may matter: where many are used. */
static const unsigned long long WALK_NS = 1000000000;
enum { MANY_KEYS = 16384 };

struct launches *launches_new(struct syms *syms, const struct bpf_map *counts,
			      const struct bpf_map *quick, struct shares *shares, bool keep)
{
	struct launches *l = xcalloc(1, sizeof(*l));

	l->keep = keep;
	l->syms = syms;
	l->programs = programs_new(syms, sizeof(struct launch_program));
	counters_init(&l->counters, counts, quick, shares);
	return l;
}

void launches_free(struct launches *l)
{
	counters_drop_retired(&l->counters, true);
	counters_free(&l->counters);
	programs_free(l->programs);
	free(l);
}

void launches_scan(struct launches *l, int pid)
{
	programs_scan(l->programs, pid);
}

/* Makes a counter for a key whose first record was lost.  If there are too many, the key of a program that
 * has ended is of no use. */
static void find_unreported(void *ctx, const struct launch_key *key)
{
	struct launches *l = ctx;
	const struct launch_program *p;
	struct launch_count sum;
	bool over;

	if (counter_find(&l->counters, key))
		return;
	p = (const struct launch_program *)programs_find(l->programs, key->program);
	over = p && p->over;
	if (!counters_read(&l->counters, key, &sum) || !(sum.unreported || over))
		return;		/* its record is still to come */
	if (!launch_counter_of(&l->counters, l->programs, key, NULL) && over)
		counters_remove_key(&l->counters, key, sum.share);
}

static void find_all_unreported(struct launches *l)
{
	l->walked = clock_ns();
	counters_each_key(&l->counters, find_unreported, l);
}

/* Drops programs that ended and whose last launches were shown. */
static void drop_ended(struct launches *l)
{
	struct program *p, *next;

	if (l->keep)
		return;
	counters_drop_retired(&l->counters, false);
	HASH_ITER(hh, l->programs->all, p, next)
		if (((struct launch_program *)p)->counted)
			program_end(p);
}

static void end_interval(struct counter *c)
{
	c->last = c->pending;
	c->pending = (struct launch_tally){ 0 };
}

void launches_count(struct launches *l)
{
	struct counters *cs = &l->counters;
	struct counter *c;

	drop_ended(l);
	find_all_unreported(l);
	counters_give_back(cs, true);
	for (c = cs->all; c; c = c->hh.next) {
		counter_pull(cs, c);
		end_interval(c);
		launch_look(c);
	}
	for (c = cs->retired; c; c = c->hh.next)
		end_interval(c);
	for (struct program *p = l->programs->all; p; p = p->hh.next) {
		struct launch_program *own = (struct launch_program *)p;

		own->counted = own->over;
		if (!own->over)
			proc_comm(p->pid, own->comm);
	}
}

void launches_tick(struct launches *l)
{
	if (l->counters.shares->used > MANY_KEYS && clock_ns() - l->walked > WALK_NS)
		find_all_unreported(l);
	counters_give_back(&l->counters, false);
}

unsigned long long launches_total(const struct launches *l)
{
	return l->counters.total;
}

unsigned long long launches_impossible(const struct launches *l)
{
	return l->counters.impossible;
}
