/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Driver: work that takes time, which only the simulated libnccl has.  It ends when a function says so; until then its stream,
 * what is recorded behind it, and who waits for either, are not done. */
#include <stdlib.h>
#include <time.h>

#include "drv.h"

struct work {
	CUstream stream;
	uint64_t number;
	int (*done)(void *arg);
	void *arg;
	struct work *next;
};

static struct work *works, **end = &works;	/* by drv_lock: the oldest first */
static uint64_t last_number;
int drv_works;

/* Frees what is done; returns what is left. */
static struct work *drop_done(void)
{
	struct work **p = &works, *w;

	while ((w = *p)) {
		if (!w->done(w->arg)) {
			p = &w->next;
			continue;
		}
		*p = w->next;
		drv_works--;
		free(w->arg);
		free(w);
	}
	end = p;
	return works;
}

EXPORTED void sim_stream_work(CUstream stream, int (*done)(void *arg), void *arg);
void sim_stream_work(CUstream stream, int (*done)(void *arg), void *arg)
{
	struct work *w = malloc(sizeof(*w));

	if (!w)
		abort();
	pthread_mutex_lock(&drv_lock);
	if (drv_works && drv_works % 64 == 0)
		drop_done();
	*w = (struct work){ .stream = drv_stream(stream), .number = ++last_number, .done = done, .arg = arg };
	*end = w;
	end = &w->next;
	__atomic_store_n(&drv_works, drv_works + 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&drv_lock);
}

uint64_t drv_work_last(void)
{
	return __atomic_load_n(&last_number, __ATOMIC_ACQUIRE);
}

/* The default stream waits for all others, and they for it. */
int drv_work_pending(CUstream stream, uint64_t until)
{
	CUstream s = drv_stream(stream);
	struct work *w;
	int pending = 0;

	if (!__atomic_load_n(&drv_works, __ATOMIC_ACQUIRE))
		return 0;
	pthread_mutex_lock(&drv_lock);
	for (w = drop_done(); w; w = w->next)
		pending |= w->number <= until && (w->stream == s || !w->stream || !s);
	pthread_mutex_unlock(&drv_lock);
	return pending;
}

void drv_work_wait(CUstream stream, uint64_t until)
{
	struct timespec pause = { .tv_nsec = 200000 };

	while (drv_work_pending(stream, until)) {
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 10000000)	/* hundreds of processes may wait */
			pause.tv_nsec += pause.tv_nsec / 4;
	}
}

struct awaited { CUstream stream; uint64_t until; };

/* Called with drv_lock, by drop_done(): older works that are in the list are not done. */
static int has_come(void *arg)
{
	const struct awaited *a = arg;
	struct work *w;

	for (w = works; w; w = w->next)
		if (w->number <= a->until && (w->stream == a->stream || !w->stream || !a->stream))
			return 0;
	return 1;
}

void drv_work_await(CUstream stream, CUstream of, uint64_t until)
{
	struct awaited *a;

	if (!drv_work_pending(of, until))
		return;
	a = malloc(sizeof(*a));
	if (!a)
		abort();
	*a = (struct awaited){ drv_stream(of), until };
	sim_stream_work(stream, has_come, a);
}
