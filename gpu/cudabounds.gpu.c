// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudabounds' probe: accesses outside of all allocations.  The library in the program writes the list of these before an
 * allocation returns (abi/gpu_variables.h: struct gpu_ranges). */
#include "gpulib/gpu.h"

GPU_USES(slots);
GPU_USES(rings);

GPU_GLOBAL struct gpu_ranges ranges __attribute__((loader_uninitialized));

enum { CHECKED, OUTSIDE };	/* counters: accesses, lanes outside */

/* Called when a warp enters a function: returns true if it is to be measured. */
gpu_u32 gpu_chosen(void)
{
	return gpu_warp_chosen();
}

static inline gpu_u32 load32(GPU_GLOBAL gpu_u32 *at)
{
	gpu_u32 v;

	__asm__ volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
	return v;
}

static inline gpu_u64 load64(GPU_GLOBAL gpu_u64 *at)
{
	gpu_u64 v;

	__asm__ volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(at) : "memory");
	return v;
}

/* Shared, local and constant memory have generic addresses, too. */
static inline gpu_u32 is_global(gpu_u64 addr)
{
	gpu_u32 yes;

	__asm__("{\n\t"
		".reg .pred %%p;\n\t"
		"isspacep.global %%p, %1;\n\t"
		"selp.u32 %0, 1, 0, %%p;\n\t"
		"}" : "=r"(yes) : "l"(addr));
	return yes;
}

/* Returns how many ranges begin at or below addr. */
static inline gpu_u32 ranges_below(gpu_u32 half, gpu_u64 addr)
{
	gpu_u32 low = 0, high = load32(&ranges.n[half]);

#pragma clang loop unroll(disable)
	while (low < high) {
		gpu_u32 middle = (low + high) / 2;

		if (load64(&ranges.range[half][middle].low) <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns true if [addr, addr + bytes) is in no range; *low and *size are the range below. */
static inline gpu_u32 is_outside(gpu_u64 addr, gpu_u32 bytes, gpu_u64 *low, gpu_u64 *size)
{
	gpu_u32 version, now;

	do {
		gpu_u32 half, below;

		version = load32(&ranges.version);
		if (!version)
			return 0;
		half = version & 1;
		below = ranges_below(half, addr);
		*low = *size = 0;
		if (below) {
			*low = load64(&ranges.range[half][below - 1].low);
			*size = load64(&ranges.range[half][below - 1].high) - *low;
		}
		if (below && addr - *low < *size && bytes <= *size - (addr - *low))
			return 0;
		/* the list may have changed meanwhile: retry if there is no range */
		__asm__ volatile("fence.acq_rel.gpu;" : : : "memory");
		now = load32(&ranges.version);
	} while (now != version);
	return 1;
}

/* Returns when the host sees all that this lane has written. */
static inline void fence_system(void)
{
	__asm__ volatile("membar.sys;" : : : "memory");
}

/* Writes a pair where it survives the context: the access may fault. */
static inline void write_last(gpu_u32 group, gpu_u64 number, struct gpu_written access, struct gpu_written below)
{
	gpu_u64 last = load64(&ranges.last), index = group + number / 2 * (__cuprobe_ctl.mask + 1);
	GPU_GLOBAL struct gpu_last *to = (GPU_GLOBAL struct gpu_last *)last + (index & (GPU_LASTS - 1));

	if (!last)
		return;
	__asm__ volatile("st.relaxed.sys.global.u64 [%0], %1;" : : "l"(&to->number), "l"(0ull) : "memory");
	fence_system();
	__asm__ volatile("st.global.v2.u32 [%0], {%1, %2};" : : "l"(&to->module), "r"(load32(&ranges.module)), "r"(group) : "memory");
	gpu_write_to(&to->pair[0], 0, access);
	gpu_write_to(&to->pair[1], 0, below);
	fence_system();
	__asm__ volatile("st.relaxed.sys.global.u64 [%0], %1;" : : "l"(&to->number), "l"(number + 1) : "memory");
	fence_system();
}

static inline void write_outside(gpu_u32 site, gpu_u64 addr, gpu_u32 value, gpu_u64 low, gpu_u64 size)
{
	const struct gpu_written access = { addr, value, site, gpu_warp() | gpu_warpid() << 16, gpu_block() };
	const struct gpu_written below = { low, GPU_BOUNDS, site, (gpu_u32)size, (gpu_u32)(size >> 32) };
	gpu_u32 group = gpu_group();
	gpu_u64 first = gpu_reserve(group, 2);

	gpu_write_of(group, first, access);
	gpu_write_of(group, first + 1, below);
	write_last(group, first, access, below);
}

/* Called by the lanes before an access; addr is generic and differs between them, bytes is the size of each lane's access. */
void gpu_before(gpu_u32 site, gpu_u64 addr, gpu_u32 bytes)
{
	gpu_u64 low, size;
	gpu_u32 active;

	if (gpu_leader())
		gpu_count(site, CHECKED, 1);
	if (!is_global(addr) || !is_outside(addr, bytes ? bytes : 1, &low, &size))
		return;
	/* one lane records for all that are outside */
	active = gpu_activemask();
	if (!(active & gpu_lanemask_lt())) {
		gpu_u32 lanes = (gpu_u32)__builtin_popcount(active);

		gpu_count(site, OUTSIDE, lanes);
		write_outside(site, addr, bytes | lanes << 8, low, size);
	}
	/* none of them makes its access before the record is written */
	__asm__ volatile("bar.warp.sync %0;" : : "r"(active) : "memory");
}
