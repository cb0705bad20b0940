/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "cudakerneltime/launch_keep.h"

/* Returns the array with room for one more: 64, 128 … */
static void *room(void *array, size_t n, size_t size)
{
	if (n && (n < 64 || n & (n - 1)))
		return array;
	return xrealloc(array, n ? 2 * n : 64, size);
}

void launch_keep_launch(struct launch_keep *k, const struct kernel_launch *launch)
{
	if (k->launches == LAUNCH_KEEP_MAX) {
		k->dropped++;
		return;
	}
	k->launch = room(k->launch, k->launches, sizeof(*launch));
	k->launch[k->launches++] = *launch;
}

void launch_keep_block(struct launch_keep *k, const struct kernel_block *block)
{
	if (k->blocks == LAUNCH_KEEP_MAX) {
		k->dropped++;
		return;
	}
	k->block = room(k->block, k->blocks, sizeof(*block));
	k->block[k->blocks++] = *block;
}

void launch_keep_free(struct launch_keep *k)
{
	free(k->launch);
	free(k->block);
}
