/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A traced program that is stepped through: its program counter, and its processor's counter, which is no clock of programs
 * (arch/arm64/inject/counter.c). */
#ifndef TESTS_STEP_H
#define TESTS_STEP_H
#include <elf.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

static inline unsigned long step_pc(int pid)
{
	struct user_regs_struct regs = { 0 };
	struct iovec at = { &regs, sizeof(regs) };

	ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &at);
	return regs.pc;
}

static inline unsigned long step_counter_stops(bool stops)
{
	(void)stops;
	return 0;
}

static inline bool step_counter_read(int pid, unsigned long ticks)
{
	(void)pid;
	(void)ticks;
	return false;
}

#endif
