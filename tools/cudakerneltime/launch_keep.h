/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Launches and blocks that are kept until the end: for --chrome and -k. */
#ifndef LAUNCH_KEEP_H
#define LAUNCH_KEEP_H
#include "cudakerneltime/launch_join.h"

/* Of each; some 100 MB. */
enum { LAUNCH_KEEP_MAX = 1 << 20 };

/* Starts zeroed. */
struct launch_keep {
	struct kernel_launch *launch;
	struct kernel_block *block;
	size_t launches, blocks;
	unsigned long long dropped;	/* beyond LAUNCH_KEEP_MAX */
};

void launch_keep_launch(struct launch_keep *k, const struct kernel_launch *launch);
void launch_keep_block(struct launch_keep *k, const struct kernel_block *block);
void launch_keep_free(struct launch_keep *k);

#endif
