/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints what the ranks of a communicator do. */
#ifndef NCCLHANG_HANG_VIEW_H
#define NCCLHANG_HANG_VIEW_H
#include <stdbool.h>
#include <stdio.h>

struct comm_op;
struct hang;
struct process_table;

/* Print, in text at a time (ns), its verdict in a line, and what the ranks do: those that do the same in one.  caused: the
 * report has begun with what its ranks wait for. */
void hang_print_line(const struct hang *h, unsigned long long now, bool caused);
void hang_print_ranks(const struct hang *h, unsigned long long now);

/* Prints a JSON object for each rank. */
void hang_print_rows(const struct hang *h, struct process_table *processes, unsigned long long now);

/* Print an operation, and the one that a verdict is about. */
void hang_print_operation(FILE *f, const struct comm_op *op);
void hang_print_about(const struct hang *h);

#endif
