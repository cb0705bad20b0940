/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the launches of each kernel add up to. */
#ifndef KERNEL_ROWS_H
#define KERNEL_ROWS_H
#include "base/hash.h"
#include "cudakerneltime/launch_join.h"
#include "cudakerneltime/time_steps.h"

struct stack;

/* Of all launches of a row; times in ns. */
struct block_sums {
	unsigned long long count, total, min, max;
	double p50, p95, p99, slowest;	/* sums of each launch's own */
};

struct kernel_row {
	struct kernel_key {
		const struct site *site;
		const struct stack *stack;	/* of the calls, with -k; or NULL */
	} key;
	struct time_steps launches;
	struct block_sums blocks;
	UT_hash_handle hh;
};

/* Rows that are kept, 3 KiB each. */
enum { KERNEL_ROWS_MAX = 20000 };

/* Starts zeroed. */
struct kernel_rows {
	struct kernel_row *row;
	unsigned long long refused;	/* launches of kernels that were too many */
};

void kernel_rows_add(struct kernel_rows *rows, const struct kernel_launch *launch, const struct stack *stack);

/* Returns rows with a kernel's name and call site each, also where several modules have the kernel, the longest
 * total first; the caller frees them. */
struct kernel_row *kernel_rows_sorted(const struct kernel_rows *rows, size_t *n);

/* By how much the slowest block of a launch exceeds its median, over all launches: 1 where all blocks are alike. */
double kernel_row_tail(const struct kernel_row *row);

/* Forgets what was added. */
void kernel_rows_clear(struct kernel_rows *rows);

#endif
