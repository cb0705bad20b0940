/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A limit for what others' input may make run for hours. */
#ifndef CPU_LIMIT_H
#define CPU_LIMIT_H

enum cpu_limit { CPU_LIMIT_DONE, CPU_LIMIT_GIVEN_UP, CPU_LIMIT_LATE, CPU_LIMIT_NO_TIMER };

/* Calls fn(ctx) and returns how that ended: it came to its end, it called cpu_limit_give_up(), or
 * the thread had computed for so many milliseconds (10 more or less: the kernel looks at its
 * clock's ticks; 0 = no limit, which saves 1.4 us).  fn may be left at any place, so it must hold
 * nothing: no memory, no lock, no open file.  For one thread, not nested; uses SIGVTALRM.  If there
 * is no timer to be had, it says so and does not call fn. */
enum cpu_limit cpu_limit_run(long ms, void (*fn)(void *ctx), void *ctx);
_Noreturn void cpu_limit_give_up(void);

#endif
