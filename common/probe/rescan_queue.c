/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdbool.h>
#include "base/clock.h"
#include "base/hash.h"
#include "probe/rescan_queue.h"

static const unsigned long long LATER_NS = 100 * 1000000ull;

struct rescan_process {
	int pid;
	bool waits;
	unsigned long long next;	/* earliest time of the next scan, ns */
	UT_hash_handle hh;
};

static struct rescan_process *get(struct rescan_queue *p, int pid)
{
	struct rescan_process *one;

	HASH_FIND_INT(p->processes, &pid, one);
	if (!one) {
		one = xcalloc(1, sizeof(*one));
		one->pid = pid;
		HASH_ADD_INT(p->processes, pid, one);
	}
	one->waits = true;
	return one;
}

void rescan_add(struct rescan_queue *p, int pid)
{
	get(p, pid);
}

void rescan_later(struct rescan_queue *p, int pid)
{
	get(p, pid)->next = clock_ns() + LATER_NS;
}

static void handle(struct rescan_process *one, unsigned long long now,
		   void (*look)(void *ctx, int pid), void *ctx)
{
	unsigned long long next;

	one->waits = false;	/* helper_call() may set it, and next */
	look(ctx, one->pid);
	next = clock_ns() + 4 * (clock_ns() - now);
	one->next = next > one->next ? next : one->next;
}

void rescan_handle(struct rescan_queue *p, void (*look)(void *ctx, int pid), void *ctx)
{
	unsigned long long now = clock_ns();
	struct rescan_process *one, *next;

	/* what helper_call() adds comes last, and is only moved in memory when this is done */
	HASH_ITER(hh, p->processes, one, next) {
		if (one->waits && now >= one->next) {
			handle(one, now, look, ctx);
			now = clock_ns();
		}
		if (!one->waits && now >= one->next) {
			HASH_DEL(p->processes, one);
			free(one);
		}
	}
}

void rescan_free(struct rescan_queue *p)
{
	struct rescan_process *one, *next;

	HASH_ITER(hh, p->processes, one, next) {
		HASH_DEL(p->processes, one);
		free(one);
	}
}
