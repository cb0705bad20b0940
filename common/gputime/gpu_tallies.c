/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/die.h"
#include "gputime/gpu_process.h"
#include "gputime/gpu_tallies.h"
#include "kernels/kernel_name.h"

/* Of a process. */
enum { TALLIES = 16384, TALLY_COST = sizeof(struct gpu_tally) + 64 };

/* More than any GPU has: a program could make sums overflow. */
static const unsigned long long BYTES_MAX = 1ull << 48;

static void add_up(unsigned long long *to, unsigned long long n)
{
	if (__builtin_add_overflow(*to, n, to))
		*to = ~0ull;
}

static void add(struct gpu_sum *to, unsigned long long ns, unsigned long long bytes)
{
	add_up(&to->bytes, bytes);
	to->least = to->n && to->least < ns ? to->least : ns;
	to->most = to->most > ns ? to->most : ns;
	to->n++;
	add_up(&to->ns, ns);
	hist_add(&to->hist, ns, 1);
}

void gpu_sum_add(struct gpu_sum *to, const struct gpu_sum *from)
{
	if (!from->n)
		return;
	to->least = to->n && to->least < from->least ? to->least : from->least;
	to->most = to->most > from->most ? to->most : from->most;
	to->n += from->n;
	add_up(&to->ns, from->ns);
	add_up(&to->bytes, from->bytes);
	hist_join(&to->hist, &from->hist);
}

static struct gpu_tally *tally_of(struct gpu_time *g, struct gpu_process *p, const struct gpu_tally_key *key)
{
	struct gpu_tally *t;

	HASH_FIND(hh, p->tallies, key, sizeof(*key), t);
	if (t || HASH_COUNT(p->tallies) == TALLIES || !quota_take(&g->quota, p->user, p->pid, TALLY_COST))
		return t;
	t = xcalloc(1, sizeof(*t));
	t->key = *key;
	t->pid = p->pid;
	t->user = p->user;
	t->comm = p->comm;
	kernel_get(key->kernel);
	HASH_ADD(hh, p->tallies, key, sizeof(t->key), t);
	return t;
}

bool gpu_tally_add(struct gpu_time *g, struct gpu_process *p, const struct gpu_tally_key *key, unsigned long long ns,
		   unsigned long long bytes)
{
	struct gpu_tally *t = tally_of(g, p, key);

	if (t)
		add(&t->pending, ns, bytes < BYTES_MAX ? bytes : BYTES_MAX);
	return t;
}

static void drop(struct gpu_time *g, struct gpu_process *p, struct gpu_tally *t)
{
	HASH_DEL(p->tallies, t);
	kernel_put(t->key.kernel);
	quota_give(&g->quota, p->user, TALLY_COST);
	free(t);
}

void gpu_tallies_drop(struct gpu_time *g, struct gpu_process *p)
{
	struct gpu_tally *t, *next;

	HASH_ITER(hh, p->tallies, t, next)
		drop(g, p, t);
}

void gpu_tallies_end_interval(struct gpu_process *p)
{
	for (struct gpu_tally *t = p->tallies; t; t = t->hh.next) {
		if (!t->pending.n && !t->last.n)	/* spares copies of 4 KiB */
			continue;
		t->last = t->pending;
		gpu_sum_add(&t->total, &t->pending);
		t->pending = (struct gpu_sum){ 0 };
	}
}

void gpu_tallies_take(struct gpu_time *g, struct gpu_process *p, gpu_take_fn *fn, void *ctx)
{
	struct gpu_tally *t, *next;

	HASH_ITER(hh, p->tallies, t, next)
		if (!t->pending.n || fn(ctx, t))
			drop(g, p, t);
}

void gpu_tallies_each(const struct gpu_process *p, gpu_tally_fn *fn, void *ctx)
{
	for (const struct gpu_tally *t = p->tallies; t; t = t->hh.next)
		fn(ctx, t);
}
