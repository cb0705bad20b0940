/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <signal.h>
#include <stddef.h>
#include "base/clock.h"
#include "proc/signals.h"

/* timeout(1) sends its signal to the tool, and then to the tool's process group: that is one. */
static const unsigned long long SAME_NS = 100 * 1000000ull;

/* Static, as a signal handler gets no context. */
static volatile sig_atomic_t first, caught, of_terminal;
static unsigned long long first_at;
static bool background, command;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	const bool kernel = info->si_code == SI_KERNEL;

	(void)context;
	if (background && kernel && sig == SIGINT)
		return;
	if (first && clock_ns() - first_at < SAME_NS)
		return;
	of_terminal = kernel;
	if (first || !command)
		caught = sig;
	if (!first)
		first_at = clock_ns();
	first = first ?: sig;
}

static bool is_ignored(int sig)
{
	struct sigaction now;

	return !sigaction(sig, NULL, &now) && now.sa_handler == SIG_IGN;
}

void signals_catch(bool has_command)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	sigfillset(&sa.sa_mask);
	command = has_command;
	background = is_ignored(SIGINT);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	if (!is_ignored(SIGHUP))
		sigaction(SIGHUP, &sa, NULL);
}

int signal_passed(void)
{
	return command ? first : 0;
}

int signal_caught(void)
{
	return caught;
}

bool signal_of_terminal(void)
{
	return of_terminal;
}
