/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Call stacks in the output. */
#ifndef VIEW_STACK_VIEW_H
#define VIEW_STACK_VIEW_H
#include <stdio.h>
#include "cli/field.h"

struct stack;
struct stack_sums;

/* A field of type const struct stack *: lines below the row, in JSON an array. */
extern const struct field_type field_stack;
#define OUT_STACK (&field_stack)

/* Writes " < caller < its caller", at most 8 of them, for the end of a line. */
void stack_view_callers(FILE *file, const struct stack *stack);

/* Prints "COMM;outer;...;caller;LEAF VALUE". */
void folded_line(const char *comm, const struct stack *stack, const char *leaf, unsigned long long value);

/* Prints a line for each sum, largest first, with its function as the leaf. */
void folded_sums(const struct stack_sums *sums);

#endif
