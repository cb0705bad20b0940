/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "abi/gpu.h"
#include "inject/ranges.h"
#include "inject/readout.h"

struct range {
	struct gpu_range at;
	uint64_t which;		/* counts what was noted */
};

/* Static, as wrappers are passed nothing of ours. */
static struct {
	pthread_mutex_t lock;
	struct range *range;	/* by address, none overlaps another */
	size_t n, room;
	uint64_t noted, changes;
	bool failed;		/* out of memory: nothing is sure any more */
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
		r.which = ++all.noted;
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

void ranges_tell(void)
{
	struct inject *inject = inject_state();
	int err = errno;

	if (!inject || !(inject->config.flags & INJECT_RANGES))
		return;
	pthread_mutex_lock(&inject->lock);
	inject_wait(inject, &inject->ranges_served, ++inject->ranges_wanted);
	pthread_mutex_unlock(&inject->lock);
	errno = err;
}

void ranges_forget(void)
{
	pthread_mutex_init(&all.lock, NULL);
}

/* The module's own: pairs of address and bytes, up to one of zeros. */
static CUresult note_variables(struct reader *reader, const struct instance *i)
{
	const uint64_t *pair;
	CUresult r;

	if (!i->variables || !reader_room(reader, i->variables_size))
		return CUDA_SUCCESS;
	r = reader_copy(reader, reader->buffer, i->variables, i->variables_size);
	if (r)
		return r;
	pair = (const void *)reader->buffer;
	for (size_t n = i->variables_size / (2 * sizeof(*pair)); n && pair[0]; n--, pair += 2)
		ranges_add(pair[0], pair[1]);
	return CUDA_SUCCESS;
}

/* Returns how many there are now, copied into the reader's buffer; GPU_RANGES + 1: too many. */
static size_t take(struct reader *reader, uint64_t *changes)
{
	struct gpu_range *to;
	size_t n = GPU_RANGES + 1;

	if (!reader_room(reader, GPU_RANGES * sizeof(*to)))
		return n;
	to = (void *)reader->buffer;
	pthread_mutex_lock(&all.lock);
	*changes = all.changes;
	if (!all.failed && all.n <= GPU_RANGES)
		for (n = 0; n < all.n; n++)
			to[n] = all.range[n].at;
	pthread_mutex_unlock(&all.lock);
	return n;
}

static CUresult write_half(struct reader *reader, struct instance *i, uint32_t n)
{
	uint32_t version = i->ranges_version + 1 ? i->ranges_version + 1 : 2, half = version & 1;
	CUdeviceptr at = i->ranges;
	CUresult r = CUDA_SUCCESS;

	if (n)
		r = reader_write(reader, at + offsetof(struct gpu_ranges, range) + half * sizeof(struct gpu_range) * GPU_RANGES,
				 reader->buffer, n * sizeof(struct gpu_range));
	if (!r)
		r = reader_write(reader, at + offsetof(struct gpu_ranges, n) + half * sizeof(n), &n, sizeof(n));
	if (!r)
		r = reader_write(reader, at + offsetof(struct gpu_ranges, version), &version, sizeof(version));
	if (!r)
		i->ranges_version = version;
	return r;
}

CUresult ranges_write(struct reader *reader, struct instance *i)
{
	static const uint32_t unknown;
	CUresult r = i->ranges_noted ? CUDA_SUCCESS : note_variables(reader, i);
	uint64_t changes = 0;
	size_t n;

	if (r)
		return r;
	i->ranges_noted = true;
	n = take(reader, &changes);
	if (changes == i->ranges_changes && i->ranges_version)
		return CUDA_SUCCESS;
	i->ranges_changes = changes;
	if (n <= GPU_RANGES)
		return write_half(reader, i, (uint32_t)n);
	if (!i->ranges_told)
		link_lost(&reader->inject->link, i->number, 1, "more than 4096 allocations: accesses are not checked");
	i->ranges_told = true;
	return reader_write(reader, i->ranges + offsetof(struct gpu_ranges, version), &unknown, sizeof(unknown));
}
