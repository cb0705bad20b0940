// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudamemtime --stage: as memtime_trace, by way of shared memory (Kanda et al., 5.2).  A warp keeps STAGE records
 * there and copies them when it has as many, and when it ends: one atomic operation on global memory for all. */
#include "gpulib/gpu.h"

GPU_USES(rings);

enum { STAGE = 15, BUSY = ~0u };

struct staged {
	gpu_u64 time;
	gpu_u32 value, site;
};

struct stage {		/* of a warp; 256 bytes */
	gpu_u32 n;	/* BUSY: in use by lanes of the warp */
	gpu_u32 pad[3];
	struct staged record[STAGE];
};

static GPU_SHARED struct stage stages[32] __attribute__((aligned(16)));

static inline gpu_u32 take(GPU_SHARED struct stage *stage)
{
	gpu_u32 n;

	__asm__ volatile("atom.shared.exch.b32 %0, [%1], %2;"
			 : "=r"(n) : "r"((gpu_u32)(unsigned long)&stage->n), "r"(BUSY) : "memory");
	return n;
}

static inline void give(GPU_SHARED struct stage *stage, gpu_u32 n)
{
	__asm__ volatile("atom.shared.exch.b32 _, [%0], %1;"
			 :: "r"((gpu_u32)(unsigned long)&stage->n), "r"(n) : "memory");
}

static inline void copy_out(GPU_SHARED struct stage *stage, gpu_u32 n)
{
	gpu_u32 group = gpu_group(), warp = gpu_warp() | gpu_warpid() << 16;
	gpu_u64 number = gpu_reserve(group, n);

#pragma clang loop unroll(disable)
	for (gpu_u32 i = 0; i < n; i++) {
		GPU_SHARED struct staged *staged = &stage->record[i];

		gpu_write(group, number + i, staged->time, staged->value, staged->site, warp);
	}
}

/* If lanes of a warp have diverged, those that find the stage busy write directly to the ring. */
static inline void stage_record(gpu_u32 site, gpu_u64 time, gpu_u32 value)
{
	GPU_SHARED struct stage *stage = &stages[gpu_warp() & 31];
	gpu_u32 n = take(stage);

	if (n == BUSY) {
		gpu_record(site, time, value);
		return;
	}
	stage->record[n].time = time;
	stage->record[n].value = value;
	stage->record[n].site = site;
	if (++n == STAGE) {
		copy_out(stage, n);
		n = 0;
	}
	give(stage, n);
}

gpu_u32 gpu_chosen(void)
{
	return gpu_warp_chosen() && __cuprobe_ctl.limit;
}

void gpu_entry(gpu_u32 site)
{
	gpu_u32 warp = gpu_warp();

	(void)site;
	if (!gpu_leader())
		return;
	stages[warp & 31].n = 0;
	if (!warp)
		gpu_record_clocks();
}

void gpu_timed(gpu_u32 site, gpu_u64 t0, gpu_u64 t1)
{
	if (gpu_leader())
		stage_record(site, t0, gpu_cycles(t0, t1));
}

void gpu_exit(gpu_u32 site, gpu_u64 t0, gpu_u64 t1)
{
	GPU_SHARED struct stage *stage;
	gpu_u32 n;

	if (!gpu_leader())
		return;
	gpu_record(site, t0, gpu_cycles(t0, t1));
	stage = &stages[gpu_warp() & 31];
	n = take(stage);
	if (n != BUSY) {	/* else other lanes use it, which end later */
		if (n)
			copy_out(stage, n);
		give(stage, 0);
	}
	if (!gpu_warp())
		gpu_record_clocks();
}
