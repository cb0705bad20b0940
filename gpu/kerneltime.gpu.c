// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudakerneltime's probe: how long each launched kernel and its blocks run, by %globaltimer.
 *
 * A block's time begins with its first thread and ends when its last thread leaves, by a counter in shared memory.
 * The last thread adds the block to its launch (gpulib/launch_slots.h); the launch's last block writes its records (abi/gpu_variables.h).
 * A kernel that traps kills its context: its launch begins and does not end. */
#include "gpulib/gpu.h"
#include "gpulib/launch_slots.h"

GPU_USES(slots);
GPU_USES(rings);

/* In shared memory, which is not initialised: a block that was not counted in must not be counted out, such as at an exit
 * in a function that a kernel without probes calls, too. */
struct inflight_block {
	gpu_u64 start;
	gpu_u64 grid;
	gpu_u32 site;
	gpu_u32 left;		/* threads */
};
static GPU_SHARED struct inflight_block running;

static inline gpu_u32 threads(void)
{
	return gpu_ntid_x() * gpu_ntid_y() * gpu_ntid_z();
}

/* The first thread begins the block; the others wait, so that none counts itself out before.  One asm statement, so that
 * the compiler cannot duplicate the barrier. */
static inline void begin_block(gpu_u32 site, gpu_u32 first)
{
	__asm__ volatile("{\n\t"
		".reg .pred %%first;\n\t"
		".reg .b64 %%t;\n\t"
		"setp.ne.u32 %%first, %0, 0;\n\t"
		"@%%first mov.u64 %%t, %%globaltimer;\n\t"
		"@%%first st.volatile.shared.u64 [%1], %%t;\n\t"
		"@%%first mov.u64 %%t, %%gridid;\n\t"
		"@%%first st.volatile.shared.u64 [%1+8], %%t;\n\t"
		"@%%first st.volatile.shared.u32 [%1+16], %2;\n\t"
		"@%%first st.volatile.shared.u32 [%1+20], %3;\n\t"
		"bar.sync 0;\n\t"
		"}" : : "r"(first), "l"(&running), "r"(site), "r"(threads()) : "memory");
}

void gpu_entry(gpu_u32 site)
{
	gpu_u32 first = (gpu_tid_x() | gpu_tid_y() | gpu_tid_z()) == 0;

	begin_block(site, first);
	if (first && (gpu_ctaid_x() | gpu_ctaid_y() | gpu_ctaid_z()) == 0)
		gpu_count(site, GPU_LAUNCHES_BEGUN, 1);
}

/* Two of a launch's eight numbers. */
static inline void write_part(gpu_u32 group, gpu_u64 first, gpu_u32 part, gpu_u32 site, gpu_u64 time, gpu_u64 other)
{
	gpu_write_of(group, first + part, (struct gpu_written){
		time, GPU_LAUNCH + part, site, (gpu_u32)other, (gpu_u32)(other >> 32) });
}

static inline void write_block(gpu_u32 site, gpu_u64 start, gpu_u64 ns)
{
	const gpu_u32 group = gpu_group();

	gpu_write(group, gpu_reserve(group, 1), start, (gpu_u32)ns & GPU_VALUE_MAX, site,
		  (gpu_u32)(ns >> GPU_BLOCK_BITS));
}

/* Part by part, to need few registers. */
static inline void end_launch(GPU_GLOBAL struct inflight_launch *l, gpu_u32 site, gpu_u64 blocks)
{
	const gpu_u32 group = gpu_group();
	const gpu_u64 first = gpu_reserve(group, GPU_LAUNCH_PARTS);
	gpu_u64 min, max;

	launch_read();
	write_part(group, first, 0, site, ~launch_load(&l->late), launch_load(&l->end));
	write_part(group, first, 1, site, gpu_gridid(), blocks);
	min = ~launch_load(&l->low);
	write_part(group, first, 2, site, launch_load(&l->sum), min);
	max = launch_load(&l->max);
	write_part(group, first, 3, site, max, launch_steps(l, min, max, blocks));
	launch_free(l);
	gpu_count(site, GPU_LAUNCHES_ENDED, 1);
}

static inline void end_block(gpu_u64 end)
{
	const gpu_u64 start = running.start, blocks = (gpu_u64)gpu_nctaid_x() * gpu_nctaid_y() * gpu_nctaid_z();
	const gpu_u32 site = running.site;
	GPU_GLOBAL struct inflight_launch *l;

	if (end < start)	/* the SMs' timers need not agree */
		end = start;
	if ((gpu_block() & __cuprobe_ctl.block_mask) == __cuprobe_ctl.block_want)
		write_block(site, start, end - start);
	l = launch_find(gpu_gridid());
	if (!l)
		gpu_count(site, GPU_LAUNCH_NO_ROOM, 1);
	else if (launch_block(l, start, end) + 1 == blocks)
		end_launch(l, site, blocks);
}

void gpu_exit(gpu_u32 site, gpu_u64 t0, gpu_u64 t1)
{
	gpu_u32 active = gpu_activemask(), leave = (gpu_u32)__builtin_popcount(active), left;

	(void)site, (void)t0, (void)t1;
	if ((active & gpu_lanemask_lt()) || running.grid != gpu_gridid())
		return;
	__asm__ volatile("atom.shared.add.u32 %0, [%1], %2;"
			 : "=r"(left) : "l"(&running.left), "r"(-leave) : "memory");
	if (left == leave)
		end_block(gpu_globaltimer());
}
