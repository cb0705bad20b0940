/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <signal.h>
#include <stddef.h>
#include "session/signals.h"

/* Static, as a signal handler gets no context. */
static volatile sig_atomic_t caught, of_terminal;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	(void)context;
	caught = sig;
	of_terminal = info->si_code == SI_KERNEL;
}

void signals_catch(void)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
}

int signal_caught(void)
{
	return caught;
}

bool signal_of_terminal(void)
{
	return of_terminal;
}
