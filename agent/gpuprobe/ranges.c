/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "agent/gpuprobe/ranges.h"

struct range {
	struct gpu_range at;
	uint64_t which;		/* its number, from 1 */
};

/* One per process: wrappers get no argument of the library's. */
static struct {
	pthread_mutex_t lock;
	struct range *range;	/* by address, none overlaps another */
	size_t n, room;
	uint64_t numbers, changes;
	bool failed;		/* out of memory: the list is incomplete */
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Returns the first range that ends above an address. */
static size_t first_above(uint64_t addr)
{
	size_t low = 0, high = all.n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (all.range[middle].at.high > addr)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void replace(size_t at, size_t gone, const struct range *r)
{
	size_t come = r ? 1 : 0;

	memmove(&all.range[at + come], &all.range[at + gone], (all.n - at - gone) * sizeof(*all.range));
	if (r)
		all.range[at] = *r;
	all.n += come - gone;
	all.changes++;
}

static bool room_for_one(void)
{
	size_t room = all.room ? 2 * all.room : 256;
	struct range *more;

	if (all.n < all.room)
		return true;
	more = realloc(all.range, room * sizeof(*more));
	if (more) {
		all.range = more;
		all.room = room;
	}
	return more != NULL;
}

void ranges_add(CUdeviceptr low, size_t size)
{
	struct range r = { .at = { low, low + size } };
	size_t at, gone = 0;
	int err = errno;

	if (!size || r.at.high < low)
		return;
	pthread_mutex_lock(&all.lock);
	if (room_for_one()) {
		r.which = ++all.numbers;
		at = first_above(low);
		while (at + gone < all.n && all.range[at + gone].at.low < r.at.high)
			gone++;
		replace(at, gone, &r);
	} else {
		all.failed = true;
	}
	pthread_mutex_unlock(&all.lock);
	errno = err;
}

uint64_t ranges_find(CUdeviceptr low)
{
	uint64_t which = 0;
	size_t at;

	pthread_mutex_lock(&all.lock);
	at = first_above(low);
	if (at < all.n && all.range[at].at.low == low)
		which = all.range[at].which;
	pthread_mutex_unlock(&all.lock);
	return which;
}

void ranges_remove(CUdeviceptr low, uint64_t which)
{
	size_t at;

	pthread_mutex_lock(&all.lock);
	at = first_above(low);
	if (which && at < all.n && all.range[at].which == which)
		replace(at, 1, NULL);
	pthread_mutex_unlock(&all.lock);
}

size_t ranges_copy(struct gpu_range *to, size_t max, uint64_t *changes)
{
	size_t n = max + 1;

	pthread_mutex_lock(&all.lock);
	*changes = all.changes;
	if (!all.failed && all.n <= max)
		for (n = 0; n < all.n; n++)
			to[n] = all.range[n].at;
	pthread_mutex_unlock(&all.lock);
	return n;
}

void ranges_forget(void)
{
	pthread_mutex_init(&all.lock, NULL);
}
