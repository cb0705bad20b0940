/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include "base/die.h"
#include "probe/attach.h"
#include "probe/link_pool.h"

/* One thread per link, so that links are closed in parallel, up to this many. */
enum { MAX_THREADS = 64 };

struct pooled_link {
	struct pool_thread *thread;
	struct attachment *attachment;
	struct pooled_link *next;	/* in the list of links to remove */
};

struct pool_thread {
	struct link_pool *pool;
	pthread_t thread;
	pthread_cond_t work;
	int n;			/* links that it holds */
	bool busy;
	struct pooled_link *first;	/* links to remove */
	/* request to attach, and its result */
	struct attachment *(*attach)(void *ctx);
	void *ctx;
	struct attachment *attached;
	int error;
};

struct link_pool {
	struct pool_thread threads[MAX_THREADS];
	int nthreads;
	bool finishing;
	pthread_mutex_t lock;	/* protects everything in here */
	pthread_cond_t attached;
};

struct link_pool *link_pool_new(void)
{
	struct link_pool *p = xcalloc(1, sizeof(*p));

	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->attached, NULL);
	return p;
}

static void attach_here(struct pool_thread *h)
{
	struct attachment *a;

	pthread_mutex_unlock(&h->pool->lock);
	errno = 0;
	a = h->attach(h->ctx);
	pthread_mutex_lock(&h->pool->lock);
	h->error = errno;
	h->attached = a;
	h->attach = NULL;
	pthread_cond_signal(&h->pool->attached);
}

static void remove_here(struct pool_thread *h)
{
	struct pooled_link *link = h->first;

	h->first = link->next;
	h->busy = true;
	pthread_mutex_unlock(&h->pool->lock);
	attach_remove(link->attachment);
	free(link);
	pthread_mutex_lock(&h->pool->lock);
	h->busy = false;
	h->n--;
}

static void *run(void *arg)
{
	struct pool_thread *h = arg;

	/* if refused, the threads share one table, which is only slower */
	unshare(CLONE_FILES);
	pthread_mutex_lock(&h->pool->lock);
	for (;;) {
		if (h->attach)	/* link_pool_attach() is waiting */
			attach_here(h);
		else if (h->first)
			remove_here(h);
		else if (h->pool->finishing)
			break;
		else
			pthread_cond_wait(&h->work, &h->pool->lock);
	}
	pthread_mutex_unlock(&h->pool->lock);
	return NULL;
}

static bool better(const struct pool_thread *a, const struct pool_thread *b)
{
	return a->busy != b->busy ? b->busy : a->n < b->n;
}

/* Returns an idle thread that holds few links; NULL if there are no threads and none can be
 * created. */
static struct pool_thread *choose(struct link_pool *p)
{
	struct pool_thread *best = p->nthreads ? p->threads : NULL, *new;

	for (int i = 1; i < p->nthreads; i++)
		if (better(&p->threads[i], best))
			best = &p->threads[i];
	if ((best && !best->busy && !best->n) || p->nthreads == MAX_THREADS)
		return best;
	new = &p->threads[p->nthreads];
	new->pool = p;
	pthread_cond_init(&new->work, NULL);
	if (pthread_create(&new->thread, NULL, run, new))
		return best;
	p->nthreads++;
	return new;
}

/* Makes the thread attach, and waits for it. */
static struct pooled_link *attach_in(struct pool_thread *h, struct attachment *(*attach)(void *ctx),
				     void *ctx)
{
	struct pooled_link *link;

	h->ctx = ctx;
	h->attach = attach;
	pthread_cond_signal(&h->work);
	while (h->attach)
		pthread_cond_wait(&h->pool->attached, &h->pool->lock);
	errno = h->error;
	if (!h->attached)
		return NULL;
	h->n++;
	link = xcalloc(1, sizeof(*link));
	link->thread = h;
	link->attachment = h->attached;
	return link;
}

struct pooled_link *link_pool_attach(struct link_pool *p, struct attachment *(*attach)(void *ctx),
				     void *ctx)
{
	struct pooled_link *link = NULL;
	struct pool_thread *h;

	pthread_mutex_lock(&p->lock);
	h = choose(p);
	if (h)
		link = attach_in(h, attach, ctx);
	else
		errno = LINK_POOL_NO_THREAD;
	pthread_mutex_unlock(&p->lock);
	return link;
}

void link_pool_remove(struct pooled_link *link)
{
	struct pool_thread *h = link->thread;

	pthread_mutex_lock(&h->pool->lock);
	link->next = h->first;
	h->first = link;
	pthread_cond_signal(&h->work);
	pthread_mutex_unlock(&h->pool->lock);
}

bool link_pool_busy(struct link_pool *p)
{
	bool busy = false;

	pthread_mutex_lock(&p->lock);
	for (int i = 0; i < p->nthreads; i++)
		busy |= p->threads[i].busy || p->threads[i].first;
	pthread_mutex_unlock(&p->lock);
	return busy;
}

void link_pool_free(struct link_pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->finishing = true;
	for (int i = 0; i < p->nthreads; i++)
		pthread_cond_signal(&p->threads[i].work);
	pthread_mutex_unlock(&p->lock);
	while (p->nthreads)
		pthread_join(p->threads[--p->nthreads].thread, NULL);
	free(p);
}
