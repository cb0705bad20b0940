/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "cudakerneltime/kernel_rows.h"

static struct kernel_row *row_of(struct kernel_rows *rows, const struct kernel_key *key)
{
	struct kernel_row *row;

	HASH_FIND(hh, rows->row, key, sizeof(*key), row);
	if (row)
		return row;
	if (HASH_COUNT(rows->row) >= KERNEL_ROWS_MAX)
		return NULL;
	row = xcalloc(1, sizeof(*row));
	row->key = *key;
	HASH_ADD(hh, rows->row, key, sizeof(row->key), row);
	return row;
}

static void add_blocks(struct block_sums *sums, const struct block_sums *b)
{
	if (!sums->count || b->min < sums->min)
		sums->min = b->min;
	if (b->max > sums->max)
		sums->max = b->max;
	sums->count += b->count;
	sums->total += b->total;
	sums->p50 += b->p50;
	sums->p95 += b->p95;
	sums->p99 += b->p99;
	sums->slowest += b->slowest;
}

void kernel_rows_add(struct kernel_rows *rows, const struct kernel_launch *l, const struct stack *stack)
{
	struct kernel_row *row = row_of(rows, &(struct kernel_key){ l->site, stack });
	const struct gpu_launch *g = &l->gpu;

	if (!row) {
		rows->refused++;
		return;
	}
	time_steps_add(&row->launches, g->end - g->start);
	add_blocks(&row->blocks, &(struct block_sums){
		.count = g->blocks, .total = g->sum, .min = g->min, .max = g->max,
		.p50 = l->p50, .p95 = l->p95, .p99 = l->p99, .slowest = g->max,
	});
}

static int by_name(const void *a, const void *b)
{
	const struct kernel_key *x = &((const struct kernel_row *)a)->key, *y = &((const struct kernel_row *)b)->key;

	return strcmp(x->site->kernel, y->site->kernel) ?: (x->stack > y->stack) - (x->stack < y->stack);
}

static int by_total(const void *a, const void *b)
{
	unsigned long long x = ((const struct kernel_row *)a)->launches.total;
	unsigned long long y = ((const struct kernel_row *)b)->launches.total;

	return (x < y) - (x > y) ?: by_name(a, b);
}

struct kernel_row *kernel_rows_sorted(const struct kernel_rows *rows, size_t *n)
{
	struct kernel_row *sorted = xcalloc(HASH_COUNT(rows->row) + 1, sizeof(*sorted)), *row, *next;
	size_t all = 0;

	HASH_ITER(hh, rows->row, row, next)
		sorted[all++] = *row;
	qsort(sorted, all, sizeof(*sorted), by_name);
	*n = 0;
	for (size_t i = 0; i < all; i++) {
		if (*n && !by_name(&sorted[*n - 1], &sorted[i])) {
			time_steps_join(&sorted[*n - 1].launches, &sorted[i].launches);
			add_blocks(&sorted[*n - 1].blocks, &sorted[i].blocks);
		} else {
			sorted[(*n)++] = sorted[i];
		}
	}
	qsort(sorted, *n, sizeof(*sorted), by_total);
	return sorted;
}

double kernel_row_tail(const struct kernel_row *row)
{
	return row->blocks.p50 ? row->blocks.slowest / row->blocks.p50 : 1;
}

void kernel_rows_clear(struct kernel_rows *rows)
{
	struct kernel_row *row, *next;

	HASH_ITER(hh, rows->row, row, next) {
		HASH_DEL(rows->row, row);
		free(row);
	}
}
