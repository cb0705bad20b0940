/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel or graph of a launch, its grid and blocks. */
#ifndef LIB_LAUNCH_BPF_H
#define LIB_LAUNCH_BPF_H
#include "lib/call.bpf.h"
#include "abi/launch.h"

struct shape {
	__u32 grid[3], block[3];
};

/* The limits of every GPU since 2012 (CUDA Programming Guide, compute capabilities 3.0 and up). */
enum { GRID_X = 0x7fffffff, GRID_YZ = 65535, BLOCK_THREADS = 1024, BLOCK_Z = 64 };

/* Return true if no GPU can launch it.  An unknown shape is all zeros. */
static __always_inline bool shape_impossible(const struct shape *s)
{
	const __u32 *g = s->grid, *b = s->block;

	if (!g[0] || !g[1] || !g[2] || !b[0] || !b[1] || !b[2])
		return g[0] | g[1] | g[2] | b[0] | b[1] | b[2];
	return g[0] > GRID_X || g[1] > GRID_YZ || g[2] > GRID_YZ || b[2] > BLOCK_Z ||
	       b[0] > BLOCK_THREADS || b[1] > BLOCK_THREADS || b[0] * b[1] * b[2] > BLOCK_THREADS;
}

enum { MAX_ATTRIBUTES = 8 };

/* Return true if a launch with this configuration is cooperative.  cudaLaunchAttribute and
 * CUlaunchAttribute are 72 bytes each: an id, 2 for cooperative, and the value 8 bytes on. */
GLOBAL_SUBPROG int is_cooperative(__u64 config)
{
	struct { __u64 attributes; __u32 n; } list = {};

	if (bpf_probe_read_user(&list, sizeof(list), (void *)(config + 40)))
		return false;
	for (__u32 i = 0; i < MAX_ATTRIBUTES; i++) {
		struct { __u32 id, pad, value; } a = {};

		if (i >= list.n)
			break;
		if (!bpf_probe_read_user(&a, sizeof(a), (void *)(list.attributes + i * 72)) &&
		    a.id == 2 && a.value)
			return true;
	}
	return false;
}

static __always_inline __u32 launch_kind_of(const struct cuda_args *row)
{
	return row->handle ? LAUNCH_GRAPH : row->cooperative ? LAUNCH_COOPERATIVE : LAUNCH_KERNEL;
}

/* enum launch_kind of a call of class launch, at its entry. */
static __always_inline __u32 launch_kind(const struct call *call, const struct cuda_args *row)
{
	if (row->params && !row->count && is_cooperative(cuda_arg(call, row->params)))
		return LAUNCH_COOPERATIVE;
	return launch_kind_of(row);
}

/* Call at the entry of a call of class launch: sets the shape, which stays as it is if the call has
 * none, and in *func the kernel or graph as passed.  Returns how many times it is launched. */
static __always_inline __u64 launch_shape(const struct call *call, const struct cuda_args *row,
					  bool driver, __u64 *func, struct shape *s)
{
	struct { __u64 func; struct shape shape; } element = {};
	__u64 a, b;

	*func = cuda_arg(call, row->handle ?: row->func);
	if (row->count) {	/* one per device, most likely of the same kernel */
		if (bpf_probe_read_user(&element, sizeof(element),
					(void *)cuda_arg(call, row->params)))
			lose(LOST_READ);
		*func = element.func;
		*s = element.shape;
		return (__u32)cuda_arg(call, row->count);
	}
	if (row->params) {
		if (bpf_probe_read_user(s, sizeof(*s), (void *)cuda_arg(call, row->params)))
			lose(LOST_READ);
	} else if (row->grid && driver) {
		for (int i = 0; i < 3; i++) {
			s->grid[i] = cuda_arg(call, row->grid + i);
			s->block[i] = cuda_arg(call, row->block + i);
		}
	} else if (row->grid) {
		a = cuda_arg(call, row->grid);
		b = cuda_arg(call, row->block);
		s->grid[0] = a;
		s->grid[1] = a >> 32;
		s->grid[2] = cuda_arg(call, row->grid + 1);
		s->block[0] = b;
		s->block[1] = b >> 32;
		s->block[2] = cuda_arg(call, row->block + 1);
	}
	return 1;
}

#endif
