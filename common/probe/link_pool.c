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
enum { MAX_HOLDERS = 64 };

struct held {
	struct holder *holder;
	struct attachment *attachment;
	struct held *next;	/* to be removed */
};

struct holder {
	pthread_t thread;
	pthread_cond_t work;
	int n;			/* what it holds */
	bool busy;
	struct held *first;	/* to be removed */
	/* what it is asked to attach */
	struct attachment *(*attach)(void *ctx);
	void *ctx;
	struct attachment *attached;
	int error;
};

static struct holder holders[MAX_HOLDERS];
static int nholders;
static bool finishing;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t attached = PTHREAD_COND_INITIALIZER;

static void attach_here(struct holder *h)
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

static void remove_here(struct holder *h)
{
	struct held *held = h->first;

	h->first = held->next;
	h->busy = true;
	pthread_mutex_unlock(&lock);
	attach_remove(held->attachment);
	free(held);
	pthread_mutex_lock(&lock);
	h->busy = false;
	h->n--;
}

static void *run(void *arg)
{
	struct holder *h = arg;

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

static bool better(const struct holder *a, const struct holder *b)
{
	return a->busy != b->busy ? b->busy : a->n < b->n;
}

/* One that is at leisure and holds little; NULL if there is none and no thread can be had. */
static struct holder *choose(void)
{
	struct holder *best = nholders ? holders : NULL, *new;

	for (int i = 1; i < nholders; i++)
		if (better(&holders[i], best))
			best = &holders[i];
	if ((best && !best->busy && !best->n) || nholders == MAX_HOLDERS)
		return best;
	new = &holders[nholders];
	pthread_cond_init(&new->work, NULL);
	if (pthread_create(&new->thread, NULL, run, new))
		return best;
	nholders++;
	return new;
}

struct held *hold(struct attachment *(*attach)(void *ctx), void *ctx)
{
	struct held *held = NULL;
	struct holder *h;

	pthread_mutex_lock(&lock);
	h = choose();
	if (!h)
		die(0, "cannot start a thread");
	h->ctx = ctx;
	h->attach = attach;
	pthread_cond_signal(&h->work);
	while (h->attach)
		pthread_cond_wait(&attached, &lock);
	errno = h->error;
	if (h->attached) {
		h->n++;
		held = xcalloc(1, sizeof(*held));
		held->holder = h;
		held->attachment = h->attached;
	}
	pthread_mutex_unlock(&lock);
	return held;
}

void held_remove(struct held *held)
{
	struct holder *h = held->holder;

	pthread_mutex_lock(&lock);
	held->next = h->first;
	h->first = held;
	pthread_cond_signal(&h->work);
	pthread_mutex_unlock(&lock);
}

bool holders_busy(void)
{
	bool busy = false;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < nholders; i++)
		busy |= holders[i].busy || holders[i].first;
	pthread_mutex_unlock(&lock);
	return busy;
}

void holders_finish(void)
{
	pthread_mutex_lock(&lock);
	finishing = true;
	for (int i = 0; i < nholders; i++)
		pthread_cond_signal(&holders[i].work);
	pthread_mutex_unlock(&lock);
	while (nholders)
		pthread_join(holders[--nholders].thread, NULL);
}
