/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A traced program that is stepped through: its program counter, and its processor's counter, which is a clock. */
#ifndef TESTS_STEP_H
#define TESTS_STEP_H
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>

static inline unsigned long step_pc(int pid)
{
	struct user_regs_struct regs = { 0 };

	ptrace(PTRACE_GETREGS, pid, NULL, &regs);
	return regs.rip;
}

/* The program: from now on its readings of the counter stop it (SIGSEGV), or do so no more.  Returns the counter. */
static inline unsigned long step_counter_stops(bool stops)
{
	unsigned long now;

	prctl(PR_SET_TSC, PR_TSC_ENABLE);
	now = __builtin_ia32_rdtsc();
	if (stops)
		prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	return now;
}

/* Its tracer: if it has stopped at such a reading, lets it read that value. */
static inline bool step_counter_read(int pid, unsigned long ticks)
{
	static const unsigned char rdtsc[] = { 0x0f, 0x31 }, rdtscp[] = { 0x0f, 0x01, 0xf9 };
	struct user_regs_struct regs;
	bool with_cpu;
	long word;

	errno = 0;
	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs) || ((word = ptrace(PTRACE_PEEKTEXT, pid, regs.rip, NULL)) == -1 && errno))
		return false;
	with_cpu = !memcmp(&word, rdtscp, sizeof(rdtscp));
	if (!with_cpu && memcmp(&word, rdtsc, sizeof(rdtsc)))
		return false;
	regs.rax = ticks & 0xffffffff;
	regs.rdx = ticks >> 32;
	if (with_cpu)
		regs.rcx = 0;
	regs.rip += with_cpu ? sizeof(rdtscp) : sizeof(rdtsc);
	return !ptrace(PTRACE_SETREGS, pid, NULL, &regs);
}

#endif
