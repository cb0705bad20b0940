/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Handles that a process has made and destroyed, by kind, from the numbers of its calls by function. */
#ifndef MODEL_HANDLE_COUNTS_H
#define MODEL_HANDLE_COUNTS_H
#include <stdbool.h>
#include "api/cuda_fn.h"

/* Kinds of handles: enum cuda_memory from CUDA_CODE on. */
enum { HANDLE_KINDS = CUDA_MEMORY_MAX - CUDA_CODE };

struct handle_counts {
	/* [0]: code that was loaded: also by the caller.  Below 0: a call that failed is read later than the number of calls */
	long long made[HANDLE_KINDS], destroyed[HANDLE_KINDS];
};

/* Adds n calls of a function, or takes away those that failed.  Loads are not counted by function.  A device's primary context is
 * made by the first call that retains it, mostly inside of a call of the runtime: not counted. */
static inline void handles_count(struct handle_counts *c, unsigned id, bool failed, unsigned long long n)
{
	const struct cuda_fn *fn = cuda_fn_of(id);
	const int kind = fn->class == CUDA_RESET && fn->args.ctx ? CUDA_CONTEXT_HANDLE : fn->args.memory;

	if (id < CUDA_ID_MAX && cuda_captures_to(&fn->args))
		c->made[CUDA_GRAPH_HANDLE - CUDA_CODE] += failed ? (long long)n : -(long long)n;
	if (id < CUDA_ID_MAX && id != CUDA_ID_cuDevicePrimaryCtxRetain && kind >= CUDA_CODE)
		(cuda_fn_makes_handle(fn) ? c->made : c->destroyed)[kind - CUDA_CODE] += failed ? -(long long)n : (long long)n;
}

/* Those that are left; handles from before tracing may be destroyed, too. */
static inline unsigned long long handles_left(const struct handle_counts *c, int kind)
{
	return c->made[kind] > c->destroyed[kind] ? c->made[kind] - c->destroyed[kind] : 0;
}

#endif
