/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "model/stack_sums.h"
#include "proc/process_table.h"

/* A sum's bytes on the heap, with its place in the table. */
enum { SUM_COST = sizeof(struct stack_sum) + 64 };

void stack_sums_add(struct stack_sums *sums, int pid, const char *comm, const struct stack *stack,
		    const char *function, unsigned long long n)
{
	struct stack_sum want, *sum;

	memset(&want, 0, sizeof(want));
	want.key.stack = stack;
	want.key.function = function;
	memcpy(want.key.comm, comm, strnlen(comm, sizeof(want.key.comm) - 1));
	HASH_FIND(hh, sums->all, &want.key, sizeof(want.key), sum);
	if (!sum) {
		if (!quota_take(&sums->quota, process_user(sums->processes, pid), pid, SUM_COST))
			return;
		sum = xcalloc(1, sizeof(*sum));
		sum->key = want.key;
		sum->pid = pid;
		HASH_ADD(hh, sums->all, key, sizeof(sum->key), sum);
	}
	sum->sum += n;
	sum->times++;
	if (sum->pid != pid)
		sum->pid = 0;
}

static int largest_first(const void *a, const void *b)
{
	const struct stack_sum *p = *(const struct stack_sum *const *)a;
	const struct stack_sum *q = *(const struct stack_sum *const *)b;

	return (p->sum < q->sum) - (p->sum > q->sum);
}

const struct stack_sum **stack_sums_sorted(const struct stack_sums *sums, size_t *n)
{
	const struct stack_sum **list = xcalloc(HASH_COUNT(sums->all) + 1, sizeof(*list));

	*n = 0;
	for (const struct stack_sum *sum = sums->all; sum; sum = sum->hh.next)
		list[(*n)++] = sum;
	qsort(list, *n, sizeof(*list), largest_first);
	return list;
}

void stack_sums_free(struct stack_sums *sums)
{
	HASH_FREE(sums->all);
	quota_free(&sums->quota);
}
