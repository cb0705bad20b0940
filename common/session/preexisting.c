/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "cli/out.h"
#include "proc/process_table.h"
#include "session/preexisting.h"

void preexisting_begin(struct process_table *t)
{
	snprintf(t->since, sizeof(t->since), "%s", out_clock());
}

void preexisting_text(const struct process_table *t, const char *allocations)
{
	printf("; %s before %s are unknown", allocations, t->since);
}

void preexisting_head(const struct process_table *t, const char *none, const char *allocations)
{
	printf("[%s]%s", out_clock(), none);
	if (!process_is_complete(t, 0))
		preexisting_text(t, allocations);
	putchar('\n');
}
