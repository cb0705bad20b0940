/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* jump LEFT CALLS: leaves cudaMalloc by siglongjmp LEFT times, as a program does whose signal
 * handler gives a slow call up, then calls it CALLS times, from deeper in the stack; with a
 * third argument it then waits for ever. Run it with SIM_LATENCY_US=cudaMalloc=50000. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "cuda_api.h"

static sigjmp_buf back;
static volatile int left;

static void on_alarm(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static void deeper(int calls)
{
	volatile char below[4096] = { 0 };
	void *p;

	for (; calls; calls--)
		cudaMalloc(&p, 64 + below[calls % 4096]);
}

int main(int argc, char **argv)
{
	const struct itimerval soon = { .it_value.tv_usec = 100000 };
	void *p;

	left = argc > 1 ? atoi(argv[1]) : 1;
	signal(SIGALRM, on_alarm);
	cudaFree(0);
	for (; left; left--) {
		if (sigsetjmp(back, 1))
			continue;
		setitimer(ITIMER_REAL, &soon, NULL);
		cudaMalloc(&p, 4096);
	}
	deeper(argc > 2 ? atoi(argv[2]) : 1);
	if (argc > 3)
		pause();
	return 0;
}
