/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "cli/out.h"
#include "model/stack_sums.h"
#include "sym/stack.h"
#include "view/folded.h"

void folded_line(const char *comm, const struct stack *stack, const char *leaf, unsigned long long value)
{
	stack_folded_name(comm);
	putchar(';');
	stack_folded(stack);
	putchar(';');
	stack_folded_name(leaf);
	printf(" %llu\n", value);
	out_line_end();
}

void folded_sums(const struct stack_sums *sums)
{
	const struct stack_sum **list;
	size_t n;

	list = stack_sums_sorted(sums, &n);
	for (size_t i = 0; i < n; i++)
		folded_line(list[i]->key.comm, list[i]->key.stack, list[i]->key.function, list[i]->sum);
	free(list);
}
