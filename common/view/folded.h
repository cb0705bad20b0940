/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Call stacks as flamegraph.pl reads them: a line each. */
#ifndef FOLDED_H
#define FOLDED_H

struct stack;
struct stack_sums;

/* Prints "COMM;outer;...;caller;LEAF VALUE". */
void folded_line(const char *comm, const struct stack *stack, const char *leaf, unsigned long long value);

/* Prints a line for each sum, largest first, with its function as the leaf. */
void folded_sums(const struct stack_sums *sums);

#endif
