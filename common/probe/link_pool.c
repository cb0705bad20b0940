/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include "probe/attach.h"
#include "base/die.h"
#include "probe/link_pool.h"

/* A thread for each link, that they go at the same time, up to so many. */
enum { MAX_THREADS = 64 };

struct pooled_link {
	struct pool_thread *thread;
	struct attachment *attachment;
	struct pooled_link *next;	/* to be removed */
};

struct pool_thread {
	pthread_t thread;
	pthread_cond_t work;
	int n;			/* what it holds */
	bool busy;
	struct pooled_link *first;	/* to be removed */
	/* what it is asked to attach */
	struct attachment *(*attach)(void *ctx);
	void *ctx;
	struct attachment *attached;
	int error;
};

static struct pool_thread threads[MAX_THREADS];
static int nthreads;
static bool finishing;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t attached = PTHREAD_COND_INITIALIZER;

static void attach_here(struct pool_thread *h)
{
	struct attachment *a;

	pthread_mutex_unlock(&lock);
	errno = 0;
	a = h->attach(h->ctx);
	pthread_mutex_lock(&lock);
	h->error = errno;
	h->attached = a;
	h->attach = NULL;
	pthread_cond_signal(&attached);
}

static void remove_here(struct pool_thread *h)
{
	struct pooled_link *link = h->first;

	h->first = link->next;
	h->busy = true;
	pthread_mutex_unlock(&lock);
	attach_remove(link->attachment);
	free(link);
	pthread_mutex_lock(&lock);
	h->busy = false;
	h->n--;
}

static void *run(void *arg)
{
	struct pool_thread *h = arg;

	/* where that is refused they share a table: only slower */
	unshare(CLONE_FILES);
	pthread_mutex_lock(&lock);
	for (;;) {
		if (h->attach)	/* somebody waits for it */
			attach_here(h);
		else if (h->first)
			remove_here(h);
		else if (finishing)
			break;
		else
			pthread_cond_wait(&h->work, &lock);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static bool better(const struct pool_thread *a, const struct pool_thread *b)
{
	return a->busy != b->busy ? b->busy : a->n < b->n;
}

/* One that is at leisure and holds little; NULL if there is none and no thread can be had. */
static struct pool_thread *choose(void)
{
	struct pool_thread *best = nthreads ? threads : NULL, *new;

	for (int i = 1; i < nthreads; i++)
		if (better(&threads[i], best))
			best = &threads[i];
	if ((best && !best->busy && !best->n) || nthreads == MAX_THREADS)
		return best;
	new = &threads[nthreads];
	pthread_cond_init(&new->work, NULL);
	if (pthread_create(&new->thread, NULL, run, new))
		return best;
	nthreads++;
	return new;
}

struct pooled_link *link_pool_attach(struct attachment *(*attach)(void *ctx), void *ctx)
{
	struct pooled_link *link = NULL;
	struct pool_thread *h;

	pthread_mutex_lock(&lock);
	h = choose();
	if (!h)
		die(0, "cannot create a thread");
	h->ctx = ctx;
	h->attach = attach;
	pthread_cond_signal(&h->work);
	while (h->attach)
		pthread_cond_wait(&attached, &lock);
	errno = h->error;
	if (h->attached) {
		h->n++;
		link = xcalloc(1, sizeof(*link));
		link->thread = h;
		link->attachment = h->attached;
	}
	pthread_mutex_unlock(&lock);
	return link;
}

void link_pool_remove(struct pooled_link *link)
{
	struct pool_thread *h = link->thread;

	pthread_mutex_lock(&lock);
	link->next = h->first;
	h->first = link;
	pthread_cond_signal(&h->work);
	pthread_mutex_unlock(&lock);
}

bool link_pool_busy(void)
{
	bool busy = false;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < nthreads; i++)
		busy |= threads[i].busy || threads[i].first;
	pthread_mutex_unlock(&lock);
	return busy;
}

void link_pool_finish(void)
{
	pthread_mutex_lock(&lock);
	finishing = true;
	for (int i = 0; i < nthreads; i++)
		pthread_cond_signal(&threads[i].work);
	pthread_mutex_unlock(&lock);
	while (nthreads)
		pthread_join(threads[--nthreads].thread, NULL);
}
