/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>
#include "base/cpu_limit.h"
#include "base/die.h"

/* Static because a signal handler gets no context and a process has one handler per signal, so
 * there is one limit at a time, whoever asks for it. */
static jmp_buf back;
static volatile sig_atomic_t running;
static timer_t timer;
static bool has_timer;

void cpu_limit_abort(void)
{
	longjmp(back, CPU_LIMIT_ABORTED);
}

static void on_timer(int sig)
{
	(void)sig;
	if (running)
		longjmp(back, CPU_LIMIT_TIMEOUT);
}

/* The timer counts this thread's CPU time. */
static bool make_timer(void)
{
	/* longjmp() leaves the handler for good: the signal must not stay blocked */
	struct sigaction sa = { .sa_handler = on_timer, .sa_flags = SA_NODEFER };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGVTALRM };

	event._sigev_un._tid = gettid();
	if (!sigaction(SIGVTALRM, &sa, NULL) &&
	    !timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer))
		return true;
	warning(errno, "cannot create a timer");
	return false;
}

static void set_timer(long ms)
{
	const struct itimerspec limit = { .it_value = { ms / 1000, ms % 1000 * 1000000 } };

	timer_settime(timer, 0, &limit, NULL);
}

enum cpu_limit cpu_limit_run(long ms, void (*fn)(void *ctx), void *ctx)
{
	volatile enum cpu_limit result = CPU_LIMIT_DONE;

	if (ms && !has_timer && !make_timer())
		return CPU_LIMIT_NO_TIMER;
	has_timer |= ms != 0;
	switch (setjmp(back)) {
	case CPU_LIMIT_DONE:
		running = 1;
		if (ms)
			set_timer(ms);
		fn(ctx);
		break;
	case CPU_LIMIT_TIMEOUT:
		result = CPU_LIMIT_TIMEOUT;
		break;
	default:
		result = CPU_LIMIT_ABORTED;
	}
	running = 0;
	if (ms)
		set_timer(0);
	return result;
}
