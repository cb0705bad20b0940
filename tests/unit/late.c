/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* late N M: a tool ends with N records of this process in the queue, and M of process 1: prints its
 * warning. */
#include <stdlib.h>
#include <unistd.h>
#include "abi/record.h"
#include "session/losses.h"
#include "session/record_queue.h"
#include "sym/stack_losses.h"

static void put(struct record_queue *q, int pid, int n)
{
	const struct record record = { .pid = pid };

	while (n--)
		record_queue_put(q, &record, sizeof(record));
}

static void add(void *ctx, unsigned pid, unsigned long n)
{
	losses_add(ctx, pid, LOST_LATE, n);
}

int main(int argc, char **argv)
{
	unsigned long long lost[LOST_MAX] = { 0 };
	struct record_queue queue = { 0 };
	struct losses losses = { 0 };

	if (argc != 3)
		return 2;
	put(&queue, 1, atoi(argv[2]));
	put(&queue, getpid(), atoi(argv[1]));
	lost[LOST_LATE] = record_queue_drop(&queue, add, &losses);
	losses_print(&losses, lost, &(struct stack_losses){ 0 });
	record_queue_free(&queue);
	return 0;
}
