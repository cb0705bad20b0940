/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: which addresses a kernel may use.  As on a GPU, a page with an allocation in it is mapped as a whole. */
#include <stdlib.h>

#include "drv_code.h"

#define DEVICE_PAGE (2ULL << 20)
#define HOST_PAGE 4096ULL

struct range {
	uint64_t low, high;
};

/* Sorted, and those that touch joined; made anew after blocks came or went. */
static struct ranges {
	struct range *of;
	size_t count, room;
	uint64_t generation;
	int bad;		/* out of memory */
} ranges;

static void add(const struct block *b, void *arg)
{
	uint64_t page = b->kind & (K_HOST | K_REGISTERED) ? HOST_PAGE : DEVICE_PAGE;
	struct ranges *all = arg;
	struct range *grown;

	if (all->count == all->room) {
		grown = realloc(all->of, (all->room * 2 + 64) * sizeof(*grown));
		if (!grown) {
			all->bad = 1;
			return;
		}
		all->of = grown;
		all->room = all->room * 2 + 64;
	}
	all->of[all->count++] = (struct range) {
		b->addr & ~(page - 1), (b->addr + b->size + page - 1) & ~(page - 1),
	};
}

static int by_address(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

static void make(struct ranges *all)
{
	size_t i, n = 0;

	all->count = 0;
	all->bad = 0;
	blocks_each(K_DEVICE | K_MANAGED | K_HOST | K_REGISTERED | K_ARRAY | K_MIPMAP | K_MAP | K_IPC | K_EXTERNAL |
		    K_MODULE, add, all);
	qsort(all->of, all->count, sizeof(*all->of), by_address);
	for (i = 0; i < all->count; i++)
		if (n && all->of[i].low <= all->of[n - 1].high) {
			if (all->of[i].high > all->of[n - 1].high)
				all->of[n - 1].high = all->of[i].high;
		} else {
			all->of[n++] = all->of[i];
		}
	all->count = n;
	all->generation = all->bad ? 0 : blocks_generation;
}

bool drv_mapped(uint64_t addr, uint64_t *low, uint64_t *high)
{
	size_t from = 0, to, middle;
	bool found = false;

	pthread_mutex_lock(&drv_lock);
	if (ranges.generation != blocks_generation)
		make(&ranges);
	for (to = ranges.count; from < to && !found;) {
		middle = (from + to) / 2;
		if (addr < ranges.of[middle].low) {
			to = middle;
		} else if (addr >= ranges.of[middle].high) {
			from = middle + 1;
		} else {
			*low = ranges.of[middle].low;
			*high = ranges.of[middle].high;
			found = true;
		}
	}
	pthread_mutex_unlock(&drv_lock);
	return found;
}
