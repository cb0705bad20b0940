/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A slot for each running launch, with the sums of its blocks.
 *
 * Blocks of a launch find its slot by %gridid, in a window of the table.  A slot stays where it is until the last
 * block of its launch has left, so that it is found without a lock; only a slot that is not there yet is taken under
 * the lock, so that no launch has two.  Everything here is done by one thread of a block, its last. */
#ifndef GPULIB_LAUNCH_SLOTS_H
#define GPULIB_LAUNCH_SLOTS_H
#include "gpulib/gpu.h"

/* A device runs up to 128 grids at a time. */
enum { LAUNCHES = 256, LAUNCH_WINDOW = 8 };

struct inflight_launch {
	gpu_u64 key;		/* %gridid + 1; 0: free, and all else is 0 then */
	gpu_u64 done;		/* blocks */
	gpu_u64 late, end;		/* the complement of the first block's entry; the last block's exit */
	gpu_u64 sum, max, low;	/* of the blocks' times, and the complement of the smallest */
	gpu_u64 pad;
	gpu_u32 steps[GPU_STEPS];	/* blocks by time: enum gpu_step */
};

static GPU_GLOBAL struct inflight_launch launches[LAUNCHES];
static GPU_GLOBAL gpu_u32 launches_lock;

static inline gpu_u64 launch_load(GPU_GLOBAL gpu_u64 *at)
{
	gpu_u64 v;

	__asm__ volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(at) : "memory");
	return v;
}

static inline void launch_store(GPU_GLOBAL gpu_u64 *at, gpu_u64 v)
{
	__asm__ volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(at), "l"(v) : "memory");
}

static inline void launch_max(GPU_GLOBAL gpu_u64 *at, gpu_u64 v)
{
	__asm__ volatile("red.relaxed.gpu.global.max.u64 [%0], %1;" : : "l"(at), "l"(v) : "memory");
}

static inline gpu_u32 launch_lock(void)
{
	gpu_u32 was;

	__asm__ volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 0, 1;"
			 : "=r"(was) : "l"(&launches_lock) : "memory");
	return was == 0;
}

static inline void launch_unlock(void)
{
	gpu_u32 was;

	__asm__ volatile("atom.release.gpu.global.exch.b32 %0, [%1], 0;"
			 : "=r"(was) : "l"(&launches_lock) : "memory");
}

/* Returns the slot of the launch, a new one if it has none; NULL if its window is full. */
static inline GPU_GLOBAL struct inflight_launch *launch_find(gpu_u64 grid)
{
	const gpu_u64 key = grid + 1;
	GPU_GLOBAL struct inflight_launch *found;
	gpu_u32 locked = 0;

	for (;;) {
		GPU_GLOBAL struct inflight_launch *room = 0;

		found = 0;
#pragma clang loop unroll(disable)
		for (gpu_u32 i = 0; i < LAUNCH_WINDOW && !found; i++) {
			GPU_GLOBAL struct inflight_launch *l = &launches[(gpu_u32)(grid + i) & (LAUNCHES - 1)];
			gpu_u64 k = launch_load(&l->key);

			if (k == key)
				found = l;
			if (!k && !room)
				room = l;
		}
		if (!found && !locked) {
			/* waiters for the lock retry: most often another block has taken the slot */
			locked = launch_lock();
			continue;
		}
		if (!found && room) {
			launch_store(&room->key, key);
			found = room;
		}
		break;
	}
	if (locked)
		launch_unlock();
	return found;
}

static inline gpu_u32 launch_step(gpu_u64 ns)
{
	gpu_u32 log2 = 63 - (gpu_u32)__builtin_clzll(ns | 1), step;

	if (log2 < 2)
		return (gpu_u32)ns;
	step = (log2 - 1) * 4 + ((gpu_u32)(ns >> (log2 - 2)) & 3);
	return step < GPU_STEPS ? step : GPU_STEPS - 1;
}

/* Adds a block; returns the number of those that left before.  Each block releases its sums, so that the reader of the
 * slot, after the last has left, sees all of them. */
static inline gpu_u64 launch_block(GPU_GLOBAL struct inflight_launch *l, gpu_u64 start, gpu_u64 end)
{
	gpu_u64 ns = end - start, before;

	launch_max(&l->late, ~start);
	launch_max(&l->end, end);
	gpu_add64(&l->sum, ns);
	launch_max(&l->max, ns);
	launch_max(&l->low, ~ns);
	__asm__ volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" : : "l"(&l->steps[launch_step(ns)]) : "memory");
	__asm__ volatile("atom.release.gpu.global.add.u64 %0, [%1], 1;" : "=l"(before) : "l"(&l->done) : "memory");
	return before;
}

/* Before a slot is read: acquires the sums of all blocks. */
static inline void launch_read(void)
{
	__asm__ volatile("fence.acq_rel.gpu;" : : : "memory");
}

/* Returns the blocks' p50, p95 and p99, as in struct gpu_launch, and clears the steps. */
static inline gpu_u64 launch_steps(GPU_GLOBAL struct inflight_launch *l, gpu_u64 min, gpu_u64 max, gpu_u64 blocks)
{
	gpu_u32 first = launch_step(min), last = launch_step(max), p50 = first, p95 = first, p99 = first;
	gpu_u64 seen = 0;

#pragma clang loop unroll(disable)
	for (gpu_u32 i = first; i <= last; i++) {
		gpu_u32 n;

		__asm__ volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(n) : "l"(&l->steps[i]) : "memory");
		__asm__ volatile("st.relaxed.gpu.global.u32 [%0], 0;" : : "l"(&l->steps[i]) : "memory");
		seen += n;
		/* a percentile is in the first step that has so many at or below it */
		p50 += seen * 2 < blocks;
		p95 += seen * 20 < blocks * 19;
		p99 += seen * 100 < blocks * 99;
	}
	return p50 | p95 << 8 | p99 << 16;
}

/* Frees the slot, whose steps are cleared. */
static inline void launch_free(GPU_GLOBAL struct inflight_launch *l)
{
	launch_store(&l->done, 0);
	launch_store(&l->late, 0);
	launch_store(&l->end, 0);
	launch_store(&l->sum, 0);
	launch_store(&l->max, 0);
	launch_store(&l->low, 0);
	__asm__ volatile("st.release.gpu.global.u64 [%0], 0;" : : "l"(&l->key) : "memory");
}

#endif
