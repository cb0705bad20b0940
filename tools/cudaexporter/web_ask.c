/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <time.h>
#include <unistd.h>
#include "cudaexporter/web_ask.h"

void web_ask_init(struct web_ask *a, int socket)
{
	pthread_condattr_t attr;

	a->socket = socket;
	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&a->answered, &attr);
	pthread_condattr_destroy(&attr);
}

uint64_t web_ask_id(struct web_ask *a)
{
	uint64_t id;

	pthread_mutex_lock(&a->lock);
	id = ++a->last_id;
	pthread_mutex_unlock(&a->lock);
	return id;
}

static struct web_wait *wait_of(struct web_ask *a, uint64_t id)
{
	for (int i = 0; i < WEB_WAITS; i++)
		if (a->wait[i].id == id)
			return &a->wait[i];
	return NULL;
}

/* The lock is held. */
static enum web_answer answer_of(struct web_ask *a, struct web_wait *w, unsigned long long deadline, int *fd)
{
	struct timespec until = { deadline / 1000000000, deadline % 1000000000 };

	while (!w->answered)
		if (pthread_cond_timedwait(&a->answered, &a->lock, &until))
			break;
	if (!w->answered)
		return WEB_ANSWER_LATE;
	*fd = w->fd;
	return w->ok ? WEB_ANSWER_PAGE : WEB_ANSWER_NONE;
}

enum web_answer web_ask_page(struct web_ask *a, const struct web_request *r, unsigned long long deadline, int *fd)
{
	struct web_message m = { .type = WEB_ASK_PAGE, .format = r->format, .what = r->what,
				 .scraper = r->scraper, .id = web_ask_id(a) };
	enum web_answer answer = WEB_ANSWER_LATE;
	struct web_wait *w;

	*fd = -1;
	pthread_mutex_lock(&a->lock);
	w = wait_of(a, 0);
	if (w) {
		*w = (struct web_wait){ .id = m.id, .fd = -1 };
		if (web_message_send(a->socket, &m, -1))
			answer = answer_of(a, w, deadline, fd);
		w->id = 0;
	}
	pthread_mutex_unlock(&a->lock);
	return answer;
}

void web_ask_answer(struct web_ask *a, const struct web_message *m, int fd)
{
	struct web_wait *w;

	pthread_mutex_lock(&a->lock);
	w = m->id ? wait_of(a, m->id) : NULL;
	if (w && !w->answered) {
		w->answered = true;
		w->ok = m->ok;
		w->fd = fd;
		fd = -1;
		pthread_cond_broadcast(&a->answered);
	}
	pthread_mutex_unlock(&a->lock);
	if (fd >= 0)
		close(fd);
}
