/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <signal.h>
#include <stddef.h>
#include "session/signals.h"

/* Static, as a signal handler gets no context. */
static volatile sig_atomic_t caught;

static void on_signal(int sig)
{
	caught = sig;
}

void signals_catch(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
}

int signal_caught(void)
{
	return caught;
}
