/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What functions do to the helper that runs them, and what the tool is told.  Prints a line for each:
 * its name, the error and how long the look took, in tenths of a second. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "proc/helper_pool.h"

static void answer(struct helper_job *job)
{
	helper_put(job, job->in, job->size);
}

/* More than a socket holds. */
static void answer_much(struct helper_job *job)
{
	static char zeros[1 << 20];

	for (int i = 0; i < 31; i++)
		helper_put(job, zeros, sizeof(zeros));
}

static void wait_for_ever(struct helper_job *job)
{
	(void)job;
	for (;;)
		pause();
}

static void answer_late(struct helper_job *job)
{
	usleep(300000);
	helper_put(job, job->in, job->size);
}

static void crash(struct helper_job *job)
{
	(void)job;
	raise(SIGSEGV);
}

static void take_memory(struct helper_job *job)
{
	static char part[1 << 20];

	for (int i = 0; i < 400; i++)
		helper_put(job, part, sizeof(part));
}

/* Counts the descriptors that it has, but for the directory's own. */
static void count_files(struct helper_job *job)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += lseek(fd, 0, SEEK_CUR) >= 0 || errno != EBADF;
	helper_put(job, &n, sizeof(n));
}

static bool never(void *ctx)
{
	return *(bool *)ctx;
}

/* what: see helper_call(); name: of the line. */
static void try_as(struct helper_pool *l, const char *what, const char *name, helper_fn *fn, const void *in,
		   size_t size)
{
	unsigned long long began = clock_ns();
	struct helper_answer a;
	int err = helper_call(l, &(struct helper_request){
			getpid(), what, fn, in, size, .fd = -1 }, &a);

	printf("%s %s %zu %llu %d\n", name, err ? strerrorname_np(-err) : "0", a.size,
	       (clock_ns() - began) / 100000000, !err && a.size == sizeof(int) ? *(int *)a.bytes : 0);
	helper_drop(&a);
}

static void try(struct helper_pool *l, const char *name, helper_fn *fn, const void *in, size_t size)
{
	try_as(l, name, name, fn, in, size);
}

/* How many looks take for ever. */
int main(int argc, char **argv)
{
	struct helper_pool l = HELPER_POOL_INIT;
	bool go_on = true;
	const int word = 4711, ever = argc > 1 ? atoi(argv[1]) : 0;

	l.helper.idle = never;
	l.helper.ctx = &go_on;
	l.limit = HELPER_START;
	try(&l, "answer", answer, &word, sizeof(word));
	try(&l, "nothing", answer, NULL, 0);
	try(&l, "much", answer_much, NULL, 0);
	try(&l, "files", count_files, NULL, 0);
	try(&l, "crash", crash, NULL, 0);
	try(&l, "memory", take_memory, NULL, 0);
	go_on = false;
	try(&l, "stopped", wait_for_ever, NULL, 0);
	go_on = true;
	l.limit = HELPER_QUICK;
	try(&l, "late", answer_late, &word, sizeof(word));
	try(&l, "other", answer, &word, sizeof(word));
	try(&l, "late", answer_late, &word, sizeof(word));
	usleep(400000);
	try(&l, "late", answer_late, &word, sizeof(word));
	for (int i = 0; i < ever; i++) {
		try(&l, "ever", wait_for_ever, &i, sizeof(i));
		try_as(&l, "ever", "same", wait_for_ever, &i, sizeof(i));
	}
	usleep(1100000 * !!ever);
	helper_pool_tick(&l);
	try(&l, "full", answer, &word, sizeof(word));
	helper_pool_free(&l);
	return 0;
}
