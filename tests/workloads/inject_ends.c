/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* inject: calls that do not return. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject.h"
#include "cuda_api.h"

static void ends(void *data)
{
	pthread_exit(data);
}

static void goes(void *data)
{
	(void)data;
	syscall(SYS_exit, 0);
}

static void jumps(void *data)
{
	longjmp(*(jmp_buf *)data, 1);
}

static void *thread(void *fn)
{
	cudaLaunchHostFunc(NULL, (cudaHostFn_t)(unsigned long)fn, NULL);
	abort();
}

static int threads(int n, cudaHostFn_t fn)
{
	pthread_t id;
	int i;

	for (i = 0; i < n; i++) {
		inject_must(!pthread_create(&id, NULL, thread, (void *)(unsigned long)fn), "no thread");
		pthread_join(id, NULL);
	}
	inject_allocate(n);
	return 0;
}

int part_thread_exit(int argc, char **argv)
{
	return threads(inject_count(argc, argv), ends);
}

int part_thread_gone(int argc, char **argv)
{
	return threads(inject_count(argc, argv), goes);
}

int part_jump(int argc, char **argv)
{
	volatile int n = inject_count(argc, argv);
	jmp_buf back;

	while (n) {
		if (!setjmp(back))
			cudaLaunchHostFunc(NULL, jumps, &back);
		inject_allocate(1);
		n--;
	}
	return 0;
}

int part_killed(int argc, char **argv)
{
	int n = inject_count(argc, argv), status;
	pid_t child;

	inject_allocate(n);
	child = fork();
	if (!child) {
		inject_allocate(1);	/* which takes for ever */
		_exit(1);
	}
	usleep(200000);
	kill(child, SIGKILL);
	inject_must(waitpid(child, &status, 0) == child && WIFSIGNALED(status), "the child has ended by itself");
	return 0;
}

static void kills(void *data)
{
	(void)data;
	kill(getpid(), SIGKILL);
	pause();
}

int part_stuck(int argc, char **argv)
{
	inject_allocate(inject_count(argc, argv));
	cudaLaunchHostFunc(NULL, kills, NULL);
	return 1;
}
