/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* inject: threads, and processes that come of others. */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject.h"
#include "cuda_api.h"

enum { THREADS = 4096 };

static pthread_barrier_t all;

static void *waits(void *data)
{
	inject_allocate(1);
	pthread_barrier_wait(&all);
	return data;
}

static void *once(void *data)
{
	inject_allocate(1);
	return data;
}

int part_threads(int argc, char **argv)
{
	static pthread_t id[THREADS];
	int n = inject_count(argc, argv), i;
	pthread_attr_t small;

	inject_must(n <= THREADS, "too many threads");
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&all, NULL, (unsigned)n);
	for (i = 0; i < n; i++)
		inject_must(!pthread_create(&id[i], &small, waits, NULL), "no thread");
	for (i = 0; i < n; i++)
		pthread_join(id[i], NULL);
	return 0;
}

int part_sequence(int argc, char **argv)
{
	int n = inject_count(argc, argv);
	pthread_t id;

	for (; n > 0; n--) {
		inject_must(!pthread_create(&id, NULL, once, NULL), "no thread");
		pthread_join(id, NULL);
	}
	return 0;
}

static void ended(pid_t child)
{
	int status;

	inject_must(waitpid(child, &status, 0) == child && !status, "a child has failed");
}

int part_fork(int argc, char **argv)
{
	int n = inject_count(argc, argv);
	pid_t child;

	inject_allocate(n);
	child = fork();
	if (!child) {
		inject_allocate(n);
		child = fork();
		if (!child) {
			inject_allocate(n);
			_exit(0);
		}
		ended(child);
		_exit(0);
	}
	inject_allocate(n);
	ended(child);
	return 0;
}

static void forks(void *data)
{
	*(pid_t *)data = fork();
}

int part_fork_inside(int argc, char **argv)
{
	int n = inject_count(argc, argv);
	pid_t child = -1;

	cudaLaunchHostFunc(NULL, forks, &child);
	inject_must(child >= 0, "no child");
	inject_allocate(n);
	if (child)
		ended(child);
	return 0;
}

int part_vfork(int argc, char **argv)
{
	char *words[] = { "/proc/self/exe", "plt", argc > 1 ? argv[1] : "1", NULL };
	int n = inject_count(argc, argv);
	pid_t child;

	inject_allocate(n);
	child = vfork();
	if (!child) {
		execv(words[0], words);
		_exit(127);
	}
	ended(child);
	inject_allocate(n);
	return 0;
}

int part_spawn(int argc, char **argv)
{
	char *words[] = { "/proc/self/exe", "plt", argc > 1 ? argv[1] : "1", NULL };
	int n = inject_count(argc, argv);
	pid_t child;

	inject_allocate(n);
	inject_must(!posix_spawn(&child, words[0], NULL, NULL, words, environ), "no child");
	ended(child);
	inject_allocate(n);
	return 0;
}

int part_exec(int argc, char **argv)
{
	char *words[] = { "/proc/self/exe", "plt", argc > 1 ? argv[1] : "1", NULL };

	inject_allocate(inject_count(argc, argv));
	execv(words[0], words);
	return 1;
}
