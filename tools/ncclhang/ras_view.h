/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints what NCCL's RAS says of a communicator. */
#ifndef NCCLHANG_RAS_VIEW_H
#define NCCLHANG_RAS_VIEW_H

struct ras;

/* Prints a communicator by its hash at a time (ns): in text the ranks that are behind the others or not well, in JSON a row
 * for each rank.  Prints in text why there is nothing. */
void ras_print(const struct ras *r, unsigned long long hash, unsigned long long now);

#endif
