/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Do two modules' kernels leave the same in memory? */
#ifndef TESTS_UNIT_PTXRUN_SAME_H
#define TESTS_UNIT_PTXRUN_SAME_H

enum { STEPS_MOST = 1000000 };	/* warps' instructions of a launch of the original */

/* Runs each kernel of both in several shapes, and prints a line each:
 *   same       memory, variables and what it prints are the same
 *   idle       the same, but with made-up arguments it changes nothing
 *   clocks, addresses, races   not comparable: the original leaves something else when it runs slower, with variables
 *              elsewhere and shared memory that is not 0, or with its warps in another order
 *   fault      both have the same fault, or the original takes too long
 *   differs    none of these
 * If shapes have different results, they are counted after the name.  Returns 1 if any kernel differs or is missing. */
int same(const char *original, const char *rewritten);

#endif
