/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Compares how common/elf/cfi.h unwinds this very program with how libgcc does, frame by frame, and
 * the rules of files with what readelf says. */
#ifndef TESTS_UNIT_CFI_H
#define TESTS_UNIT_CFI_H
#include <stdbool.h>
#include <stdio.h>
#include <ucontext.h>

/* What was compared. */
struct cfi_count {
	unsigned long stacks, complete;	/* complete: down to where the return address is undefined */
	unsigned long frames, simple, signals;
	unsigned long most;		/* frames of a stack */
	unsigned long wrong;
};

/* Compares the frames above this one, whose registers u has.  Says on standard error what differs. */
void cfi_compare(struct cfi_count *count, const ucontext_t *u);

/* Compares the frames of the caller. */
void cfi_compare_here(struct cfi_count *count);

/* Return true if a program of this machine can be stopped before each of its instructions by itself. */
bool cfi_steps(void);

/* Runs fn(arg), and compares before each instruction of it. */
void cfi_compare_stepping(struct cfi_count *count, void (*fn)(struct cfi_count *), struct cfi_count *arg);

/* The cases, each in its way of being compiled: tests/rules.mk.  Prints a line for each. */
void cfi_cases(void);

/* Functions in assembly, with CFI: they call fn(arg) with the return address in a register, the CFA in
 * another one, registers moved or computed by expressions. */
void cfi_asm_register(void (*fn)(struct cfi_count *), struct cfi_count *arg);
void cfi_asm_stack(void (*fn)(struct cfi_count *), struct cfi_count *arg);
void cfi_asm_expression(void (*fn)(struct cfi_count *), struct cfi_count *arg);

/* Reads addresses from standard input, "START ADDRESS" in each line, and prints the rule at each as
 * readelf -wF does. */
int cfi_print_rows(const char *file);

/* Prints how long loading and stepping take. */
int cfi_print_times(const char *file);

#endif
