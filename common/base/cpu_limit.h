/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A CPU time limit for code that untrusted input can keep running for hours. */
#ifndef BASE_CPU_LIMIT_H
#define BASE_CPU_LIMIT_H

enum cpu_limit { CPU_LIMIT_DONE, CPU_LIMIT_ABORTED, CPU_LIMIT_TIMEOUT, CPU_LIMIT_NO_TIMER };

/* Calls fn(ctx) and returns how it ended: fn returned, it called cpu_limit_abort(), or the thread
 * used up ms milliseconds of CPU time (give or take 10, as the kernel checks at clock ticks; 0 = no
 * limit, which saves 1.4 us).  fn may be aborted at any point, so it must hold nothing: no memory,
 * no lock, no open file.  Call from one thread only, never nested; uses SIGVTALRM.  Warns and does
 * not call fn if no timer can be created. */
enum cpu_limit cpu_limit_run(long ms, void (*fn)(void *ctx), void *ctx);
_Noreturn void cpu_limit_abort(void);

#endif
