/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Functions for GPU probes.  A probe is a file gpu/NAME.gpu.c, in C, with some of the functions that ptx/instrument.h
 * lists; clang makes PTX of it, and instrument() puts that into kernels.
 *
 * A probe must not call functions that are not inlined, take addresses of local variables (a kernel would need a stack), or
 * refer to other files.  It may have variables: GPU_GLOBAL, GPU_SHARED, GPU_CONST.
 *
 * If ptxas sees that all lanes of a warp add to one address, it adds a reduction of many instructions, although only one
 * lane adds here.  gpu_group() seems to differ between lanes, which prevents that. */
#ifndef GPULIB_GPU_H
#define GPULIB_GPU_H
#include "abi/gpu_variables.h"

#define GPU_GLOBAL __attribute__((address_space(1)))
#define GPU_SHARED __attribute__((address_space(3)))
#define GPU_CONST  __attribute__((address_space(4)))

/* "GPU_USES(slots);": the module gets these.  Else gpu_ctl has 0 for their address. */
#define GPU_USES(what) GPU_CONST const gpu_u32 gpu_uses_##what = 1

extern GPU_CONST const struct gpu_ctl __cuprobe_ctl;

#define GPU_REGISTER(function, name)					\
	static inline gpu_u32 function(void)				\
	{								\
		gpu_u32 value;						\
		__asm__("mov.u32 %0, %%" name ";" : "=r"(value));	\
		return value;						\
	}
GPU_REGISTER(gpu_tid_x, "tid.x")
GPU_REGISTER(gpu_tid_y, "tid.y")
GPU_REGISTER(gpu_tid_z, "tid.z")
GPU_REGISTER(gpu_ntid_x, "ntid.x")
GPU_REGISTER(gpu_ntid_y, "ntid.y")
GPU_REGISTER(gpu_ntid_z, "ntid.z")
GPU_REGISTER(gpu_ctaid_x, "ctaid.x")
GPU_REGISTER(gpu_ctaid_y, "ctaid.y")
GPU_REGISTER(gpu_ctaid_z, "ctaid.z")
GPU_REGISTER(gpu_nctaid_x, "nctaid.x")
GPU_REGISTER(gpu_nctaid_y, "nctaid.y")
GPU_REGISTER(gpu_nctaid_z, "nctaid.z")
GPU_REGISTER(gpu_laneid, "laneid")
GPU_REGISTER(gpu_lanemask_lt, "lanemask_lt")
GPU_REGISTER(gpu_smid, "smid")
GPU_REGISTER(gpu_warpid, "warpid")	/* the SM's slot of the warp */

static inline gpu_u32 gpu_activemask(void)
{
	gpu_u32 mask;

	__asm__ volatile("activemask.b32 %0;" : "=r"(mask));
	return mask;
}

static inline gpu_u64 gpu_clock64(void)
{
	gpu_u64 clock;

	__asm__ volatile("mov.u64 %0, %%clock64;" : "=l"(clock));
	return clock;
}

/* ns since some time that is the same for all SMs; it may go in steps of 32 ns or of 1 us. */
static inline gpu_u64 gpu_globaltimer(void)
{
	gpu_u64 ns;

	__asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

/* The launch's number, and the low half of it. */
static inline gpu_u64 gpu_gridid(void)
{
	gpu_u64 grid;

	__asm__("mov.u64 %0, %%gridid;" : "=l"(grid));
	return grid;
}

static inline gpu_u32 gpu_grid(void)
{
	return (gpu_u32)gpu_gridid();
}

static inline gpu_u32 gpu_block(void)
{
	return (gpu_ctaid_z() * gpu_nctaid_y() + gpu_ctaid_y()) * gpu_nctaid_x() + gpu_ctaid_x();
}

static inline gpu_u32 gpu_thread(void)
{
	return (gpu_tid_z() * gpu_ntid_y() + gpu_tid_y()) * gpu_ntid_x() + gpu_tid_x();
}

/* The warp's number in its block. */
static inline gpu_u32 gpu_warp(void)
{
	return gpu_thread() >> 5;
}

/* Returns true in one of the converged lanes. */
static inline int gpu_leader(void)
{
	return !(gpu_activemask() & gpu_lanemask_lt());
}

/* Returns true if the options select this warp. */
static inline int gpu_warp_chosen(void)
{
	return (gpu_block() & __cuprobe_ctl.block_mask) == __cuprobe_ctl.block_want &&
	       (gpu_warp() & __cuprobe_ctl.warp_mask) == __cuprobe_ctl.warp_want;
}

/* The group that this SM's slots and rings are in. */
static inline gpu_u32 gpu_group(void)
{
	return (gpu_smid() & __cuprobe_ctl.mask) + (gpu_laneid() & __cuprobe_ctl.zero);
}

static inline GPU_GLOBAL struct gpu_slot *gpu_slot(gpu_u32 site)
{
	return (GPU_GLOBAL struct gpu_slot *)__cuprobe_ctl.slots + (site * (__cuprobe_ctl.mask + 1) + gpu_group());
}

static inline void gpu_add64(GPU_GLOBAL gpu_u64 *at, gpu_u64 n)
{
	__asm__ volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" :: "l"(at), "l"(n) : "memory");
}

static inline void gpu_max32(GPU_GLOBAL gpu_u32 *at, gpu_u32 n)
{
	__asm__ volatile("red.relaxed.gpu.global.max.u32 [%0], %1;" :: "l"(at), "r"(n) : "memory");
}

/* Adds n to a bucket of a site's slot; the probe defines its meaning. */
static inline void gpu_count(gpu_u32 site, gpu_u32 bucket, gpu_u64 n)
{
	gpu_add64(&gpu_slot(site)->hist[bucket], n);
}

/* Adds a value to a site's histogram; in one lane. */
static inline void gpu_hist(gpu_u32 site, gpu_u32 value)
{
	GPU_GLOBAL struct gpu_slot *slot = gpu_slot(site);
	gpu_u32 bucket = 31 - (gpu_u32)__builtin_clz(value | 1);

	gpu_add64(&slot->sum, value);
	gpu_max32(&slot->max, value);
	gpu_max32(&slot->low, ~value);
	gpu_add64(&slot->hist[bucket < GPU_BUCKETS ? bucket : GPU_BUCKETS - 1], 1);
}

/* The cycles between two clocks, up to the largest in a record. */
static inline gpu_u32 gpu_cycles(gpu_u64 t0, gpu_u64 t1)
{
	gpu_u64 cycles = t1 - t0;

	return cycles > GPU_VALUE_MAX ? GPU_VALUE_MAX : (gpu_u32)cycles;
}

/* Reserves n records of a group's ring; returns the first one's number. */
static inline gpu_u64 gpu_reserve(gpu_u32 group, gpu_u32 n)
{
	GPU_GLOBAL struct gpu_ring *ring = (GPU_GLOBAL struct gpu_ring *)__cuprobe_ctl.rings + group;
	gpu_u64 number;

	__asm__ volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;"
			 : "=l"(number) : "l"(&ring->wanted), "l"((gpu_u64)n) : "memory");
	return number;
}

/* Contents of a record (abi/gpu_variables.h: struct gpu_record). */
struct gpu_written {
	gpu_u64 time;
	gpu_u32 value, site, warp, block;
};

/* lap: GPU_LAP or 0. */
static inline void gpu_write_to(GPU_GLOBAL struct gpu_record *record, gpu_u32 lap, struct gpu_written w)
{
	__asm__ volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
			 :: "l"(record), "r"((gpu_u32)w.time), "r"((gpu_u32)(w.time >> 32)), "r"(w.value | lap), "r"(w.site)
			 : "memory");
	__asm__ volatile("st.global.v4.u32 [%0+16], {%1, %2, %3, %4};"
			 :: "l"(record), "r"(gpu_smid() | lap), "r"(w.warp), "r"(w.block), "r"(gpu_grid())
			 : "memory");
}

/* Writes record `number`, reserved by gpu_reserve(), of a group's ring. */
static inline void gpu_write_of(gpu_u32 group, gpu_u64 number, struct gpu_written w)
{
	gpu_u32 limit = __cuprobe_ctl.limit;

	gpu_write_to((GPU_GLOBAL struct gpu_record *)__cuprobe_ctl.records +
		     ((gpu_u64)group * limit + ((gpu_u32)number & (limit - 1))),
		     (gpu_u32)number & limit ? 0 : GPU_LAP, w);
}

/* The same, with the number of this block. */
static inline void gpu_write(gpu_u32 group, gpu_u64 number, gpu_u64 time, gpu_u32 value, gpu_u32 site, gpu_u32 warp)
{
	gpu_write_of(group, number, (struct gpu_written){ time, value, site, warp, gpu_block() });
}

/* Adds a record; in one lane. */
static inline void gpu_record(gpu_u32 site, gpu_u64 time, gpu_u32 value)
{
	gpu_u32 group = gpu_group();

	gpu_write(group, gpu_reserve(group, 1), time, value, site, gpu_warp() | gpu_warpid() << 16);
}

/* Adds a pair of clocks, to convert the SM's %clock64 to ns; in one lane. */
static inline void gpu_record_clocks(void)
{
	gpu_u64 clock = gpu_clock64(), ns = gpu_globaltimer();
	gpu_u32 group = gpu_group();

	gpu_write(group, gpu_reserve(group, 1), clock, GPU_CLOCKS, (gpu_u32)ns, (gpu_u32)(ns >> 32));
}

#endif
