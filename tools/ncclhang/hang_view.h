/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints what the ranks of communicators do. */
#ifndef NCCLHANG_HANG_VIEW_H
#define NCCLHANG_HANG_VIEW_H
struct hang;
struct helper_pool;
struct process_table;

/* Prints a communicator at a time (ns): in text its verdict and the ranks, in JSON a row for each rank. */
void hang_print(const struct hang *h, struct helper_pool *helpers, struct process_table *processes, unsigned long long now);

#endif
