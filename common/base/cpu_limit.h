/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A limit for what others' input may make run for hours. */
#ifndef PATIENCE_H
#define PATIENCE_H

enum cpu_limit { CPU_LIMIT_DONE, CPU_LIMIT_GIVEN_UP, CPU_LIMIT_LATE };

/* Calls fn(ctx) and returns how that ended: it came to its end, it called cpu_limit_give_up(), or
 * the thread had computed for so many milliseconds (10 more or less: the kernel looks at its
 * clock's ticks; 0 = no limit, which saves 1.4 us).  fn may be left at any place, so it must hold
 * nothing: no memory, no lock, no open file.  For one thread, not nested; uses SIGVTALRM.  Dies
 * if there is no timer to be had. */
enum cpu_limit cpu_limit_run(long ms, void (*fn)(void *ctx), void *ctx);
_Noreturn void cpu_limit_give_up(void);

#endif
