/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include "base/die.h"
#include "proc/vm_read.h"

enum { PATIENCE_NS = 500 * 1000 * 1000, NS_PER_S = 1000000000 };

enum state { READING, READ, ABANDONED };

/* Only the tool's exit ends a blocked read, so each read gets its own thread. */
struct vm_request {
	int pid, n;
	struct iovec *places;
	size_t size;
	ssize_t got;
	_Atomic enum state state;
	sem_t done;
	char buf[];
};

static void forget(struct vm_request *r)
{
	sem_destroy(&r->done);
	free(r->places);
	free(r);
}

static void *run(void *ctx)
{
	struct vm_request *r = ctx;
	const struct iovec here = { r->buf, r->size };

	r->got = process_vm_readv(r->pid, &here, 1, r->places, r->n, 0);
	if (atomic_exchange(&r->state, READ) == ABANDONED)
		forget(r);
	else
		sem_post(&r->done);
	return NULL;
}

static struct vm_request *start(int pid, const struct iovec *places, int n, size_t size)
{
	struct vm_request *r = xcalloc(1, sizeof(*r) + size);
	pthread_t thread;

	r->pid = pid;
	r->n = n;
	r->size = size;
	r->got = -1;
	r->places = xcalloc(n, sizeof(*places));
	memcpy(r->places, places, n * sizeof(*places));
	sem_init(&r->done, 0, 0);
	if (pthread_create(&thread, NULL, run, r)) {
		forget(r);
		return NULL;
	}
	pthread_detach(thread);
	return r;
}

static bool wait_for(struct vm_request *r)
{
	struct timespec end;
	int err;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += PATIENCE_NS;
	end.tv_sec += end.tv_nsec / NS_PER_S;
	end.tv_nsec %= NS_PER_S;
	do
		err = sem_clockwait(&r->done, CLOCK_MONOTONIC, &end) ? errno : 0;
	while (err == EINTR);
	if (!err)
		return true;
	if (atomic_exchange(&r->state, ABANDONED) == READING)
		return false;
	sem_wait(&r->done);	/* the read just finished */
	return true;
}

ssize_t vm_read(struct vm_reader *v, int pid, const struct iovec *places, int n, void *buf,
		size_t size)
{
	struct vm_request *r;
	ssize_t got;

	for (int i = 0; i < v->nstuck; i++)
		if (v->stuck[i] == pid)
			return -1;
	r = v->nstuck < VM_MAX_STUCK ? start(pid, places, n, size) : NULL;
	if (!r)
		return -1;
	if (!wait_for(r)) {
		v->stuck[v->nstuck++] = pid;
		warning(0, "reading memory of process %d timed out: kernel names may be missing", pid);
		return -1;
	}
	got = r->got;
	if (got > 0)
		memcpy(buf, r->buf, got);
	forget(r);
	return got;
}
