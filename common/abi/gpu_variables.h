/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The variables of GPU probes (gpu/) in a module, which tools read.  Also compiled for the GPU: includes nothing.
 *
 * An instrumented module has these variables, H being the hash of its original text, as eight hex digits:
 *   __cuprobe_ctl_H      .const   struct gpu_ctl, initialised in the module
 *   __cuprobe_slots_H    .global  struct gpu_slot [sites][groups]
 *   __cuprobe_rings_H    .global  struct gpu_ring [groups]
 *   __cuprobe_records_H  .global  struct gpu_record [groups][limit]
 *   __cuprobe_sites_H    .global  text, see ptx/sites.h
 * A probe has slots or rings or both.  Groups are a power of two: an SM uses group smid & (groups - 1).
 * All times of a record are of the SM's %clock64; see GPU_CLOCKS. */
#ifndef ABI_GPU_VARIABLES_H
#define ABI_GPU_VARIABLES_H

typedef unsigned int gpu_u32;
typedef unsigned long long gpu_u64;

enum { GPU_BUCKETS = 30 };

/* Values of one site and group; 256 bytes. */
struct gpu_slot {
	gpu_u64 sum;
	gpu_u32 max, low;		/* the largest, and the complement of the smallest: both grow from 0 */
	gpu_u64 hist[GPU_BUCKETS];	/* [i]: 2^i to 2^(i+1) - 1; the first also counts 0, the last larger values */
};

/* Counts the records that a group's probes wanted to write; alone in its cache line. */
struct gpu_ring {
	gpu_u64 wanted;
	gpu_u64 pad[15];
};

/* Record N of a group is at N & (limit - 1).  Each half ends a store of 16 bytes; the top bit of `value` and of
 * `smid` is the parity of the lap, 1 in the first, so that a reader detects a half that is not written yet. */
#define GPU_LAP 0x80000000u
struct gpu_record {
	gpu_u64 time;		/* %clock64 when it began; the probe's own */
	gpu_u32 value;		/* cycles, or the probe's own: 31 bits; GPU_CLOCKS */
	gpu_u32 site;
	gpu_u32 smid;		/* 31 bits */
	gpu_u32 warp;		/* of the block; above bit 16 the SM's warp slot, %warpid */
	gpu_u32 block;		/* (z * y + y) * x + x of the block */
	gpu_u32 grid;		/* the low half of %gridid: which launch */
};

/* As `value`: a pair of clocks, not an access: time is %clock64, site and warp are the low and the high half of
 * %globaltimer. */
#define GPU_CLOCKS 0x7fffffffu
#define GPU_VALUE_MAX 0x3fffffffu

/* cudakerneltime: a run of a kernel is four adjacent records of a group with the same site and grid.  As
 * `value` they have GPU_LAUNCH + 0 to 3; `time` and warp | block << 32 of each are two of its eight numbers. */
#define GPU_LAUNCH 0x7ffffff8u
enum { GPU_LAUNCH_PARTS = 4 };
struct gpu_launch {
	gpu_u64 start, end;	/* %globaltimer, ns: the first block's entry, the last block's exit */
	gpu_u64 grid;		/* %gridid */
	gpu_u64 blocks;
	gpu_u64 sum, min, max;	/* of the blocks' times, ns */
	gpu_u64 steps;		/* of their p50, p95 and p99, a byte each: enum gpu_step */
};

/* A block, of cudakerneltime: time is its %globaltimer at entry, value the low 30 bits of the ns it took, and warp
 * the 16 above them. */
enum { GPU_BLOCK_BITS = 30 };

/* Times by steps of a quarter octave: below 8 ns the time itself, then (log2 t - 1) * 4 + the next two bits. */
enum gpu_step { GPU_STEPS = 160 };	/* the last: half an hour or more */

/* In a kernel's slot, as hist[]: what cudakerneltime counts. */
enum gpu_launch_count {
	GPU_LAUNCHES_BEGUN, GPU_LAUNCHES_ENDED,
	GPU_LAUNCH_NO_ROOM,	/* blocks of runs beyond the limit of concurrent ones */
};

/* The program's memory, for a probe that has the variable `ranges`: the module also gets __cuprobe_variables_H, pairs of
 * address and size of the module's own variables, ended by two zeros.  The library writes the half that is not valid and
 * then `version`, so that a running kernel reads one or the other. */
enum { GPU_RANGES = 4096 };
struct gpu_range {
	gpu_u64 low, high;	/* low <= address < high */
};
struct gpu_ranges {
	gpu_u32 version;	/* its lowest bit selects the valid half; 0: none yet */
	gpu_u32 n[2];
	gpu_u32 module;		/* the library's number of it */
	gpu_u64 last;		/* address of struct gpu_last [GPU_LASTS], or 0 */
	gpu_u64 pad;
	struct gpu_range range[2][GPU_RANGES];	/* sorted, not overlapping */
};

/* cudabounds: an access outside of all ranges is two adjacent records.  In the first time is the address, value the bytes of
 * a lane | lanes << 8.  In the second, which has this value, time is the address of the range below, and warp | block << 32
 * its size; 0: none. */
#define GPU_BOUNDS 0x7ffffff0u

/* The last of these pairs, in host memory of the context that kernels write to: a kernel's fault takes the context's
 * own memory, and its cause is written before the access is made.  Modules and groups share the table. */
enum { GPU_LASTS = 1024, GPU_LAST_PARTS = 2 };	/* the first a power of two */
struct gpu_last {
	gpu_u64 number;		/* of the first record in its group's ring, plus 1; written last.  0: none */
	gpu_u32 module, group;
	struct gpu_record pair[GPU_LAST_PARTS];	/* without GPU_LAP */
};

/* In a site's slot, as hist[]: what cudacoalesce counts, accesses by the number of lines that they touch, then sums. */
enum { GPU_LINES_EXACT = 16, GPU_LINES_BUCKETS = 24 };	/* 1 to 16 lines, then 17 and 18, 19 and 20 … 31 and 32 */
enum { GPU_LINES = GPU_LINES_BUCKETS, GPU_SECTORS, GPU_REQUESTED };	/* bytes that lanes requested */

static inline unsigned int gpu_lines_bucket(unsigned int lines)
{
	return lines <= GPU_LINES_EXACT ? lines - 1 : (lines - 1 + GPU_LINES_EXACT) / 2;
}

static inline unsigned int gpu_lines_low(unsigned int bucket)
{
	return bucket < GPU_LINES_EXACT ? bucket + 1 : 2 * bucket + 1 - GPU_LINES_EXACT;
}

struct gpu_ctl {
	gpu_u64 slots;		/* generic addresses, or 0 */
	gpu_u64 rings, records;
	gpu_u32 mask;		/* groups - 1 */
	gpu_u32 zero;		/* always 0, which ptxas must not know */
	gpu_u32 limit;		/* records of a group, a power of two */
	gpu_u32 block_mask, block_want, warp_mask, warp_want;	/* which are measured */
	gpu_u32 spare;
};

#endif
