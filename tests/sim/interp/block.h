/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef TESTS_SIM_INTERP_BLOCK_H
#define TESTS_SIM_INTERP_BLOCK_H
#include "machine.h"

/* Makes the run's next block resident on an SM; false: no memory. */
bool block_begin(struct run *run, unsigned sm, uint64_t start);
/* Takes a block off its SM, after its last warp; its memory is kept for another. */
void block_end(struct run *run, struct block *block);
void block_free(struct block *block);

#endif
