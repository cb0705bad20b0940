// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudakerneltime's probe: how long each launch and its blocks run, by %globaltimer.
 *
 * A block's time begins with its first thread and ends when its last thread leaves, which is known by counting them
 * in shared memory.  Who leaves last adds the block to its launch (lib/launches.h); the launch's last block writes
 * its records (abi/gpu.h).  A kernel that traps kills its context: its launch is begun and does not end. */
#include "lib/gpu.h"
#include "lib/launches.h"

/* In shared memory, where nothing is 0 at first: a block that was not counted in must not be counted out, as an exit in
 * a function that a kernel without probes calls too. */
struct running_block {
	u64 start;
	u64 grid;
	u32 site;
	u32 left;		/* threads */
};
SHARED struct running_block __cuprobe_block;

static inline u32 threads(void)
{
	return ntid_x() * ntid_y() * ntid_z();
}

/* The first thread begins the block; the others wait, so that none counts itself out before.  One statement, as a
 * compiler may not put the barrier on both sides of a branch. */
static inline void begin_block(u32 site, u32 first)
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
		"}" : : "r"(first), "l"(&__cuprobe_block), "r"(site), "r"(threads()) : "memory");
}

void gpu_entry(u32 site)
{
	u32 first = (tid_x() | tid_y() | tid_z()) == 0;

	begin_block(site, first);
	if (first && (ctaid_x() | ctaid_y() | ctaid_z()) == 0)
		gpu_count(site, GPU_LAUNCHES_BEGUN);
}

static inline void write_launch(u32 site, const struct gpu_launch *launch)
{
	const u32 grid = (u32)launch->grid;
	u64 at = gpu_reserve(GPU_LAUNCH_PARTS);

	gpu_write(at, launch->start, GPU_LAUNCH, site, launch->end, grid);
	gpu_write(at + 1, launch->grid, GPU_LAUNCH + 1, site, launch->blocks, grid);
	gpu_write(at + 2, launch->sum, GPU_LAUNCH + 2, site, launch->min, grid);
	gpu_write(at + 3, launch->max, GPU_LAUNCH + 3, site, launch->steps, grid);
}

static inline void end_launch(GLOBAL struct running_launch *l, u32 site, u64 blocks)
{
	struct gpu_launch launch = { .grid = gridid(), .blocks = blocks };

	launch_take(l, &launch);
	gpu_count(site, GPU_LAUNCHES_ENDED);
	write_launch(site, &launch);
}

static inline void end_block(u64 end)
{
	const u64 start = __cuprobe_block.start, blocks = (u64)nctaid_x() * nctaid_y() * nctaid_z();
	const u32 site = __cuprobe_block.site;
	GLOBAL struct running_launch *l;

	if (end < start)	/* nobody says that the timers of all SMs are one */
		end = start;
	if ((block() & __cuprobe_ctl.block_mask) == __cuprobe_ctl.block_want)
		gpu_write(gpu_reserve(1), start, (u32)(end - start) & GPU_VALUE_MAX, site,
			  (u32)((end - start) >> GPU_BLOCK_BITS) | (u64)block() << 32, (u32)gridid());
	l = launch_find(gridid());
	if (!l)
		gpu_count(site, GPU_LAUNCH_NO_ROOM);
	else if (launch_block(l, start, end) + 1 == blocks)
		end_launch(l, site, blocks);
}

void gpu_exit(u32 site, u64 t0, u64 t1)
{
	u32 active = activemask(), leave = (u32)__builtin_popcount(active), left;

	(void)site, (void)t0, (void)t1;
	if ((active & lanemask_lt()) || __cuprobe_block.grid != gridid())
		return;
	__asm__ volatile("atom.shared.add.u32 %0, [%1], %2;"
			 : "=r"(left) : "l"(&__cuprobe_block.left), "r"(-leave) : "memory");
	if (left == leave)
		end_block(globaltimer());
}
