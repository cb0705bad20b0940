/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* inject: calls in a signal's handler, which comes at any instruction of a call or of what probes it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#include "inject.h"
#include "cuda_api.h"

static volatile int made, wrong;

static void on_alarm(int sig)
{
	int device = -1, saved = errno;

	(void)sig;
	made++;
	/* it takes no lock */
	if (cudaGetDevice(&device) != cudaSuccess || device)
		wrong++;
	errno = saved;
}

int part_signal(int argc, char **argv)
{
	const struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	int i, n = inject_count(argc, argv), device;
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };

	cudaFree(NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (i = 0; i < n; i++) {
		device = -1;
		errno = 0;
		if (cudaGetDevice(&device) != cudaSuccess || device || errno)
			wrong++;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	inject_must(!wrong, "a call answered something else");
	printf("%d\n", made);
	return 0;
}
