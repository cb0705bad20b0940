/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stddef.h>
#include <sys/socket.h>
#include "base/clock.h"
#include "cudaexporter/web_connections.h"

/* Deadlines in nanoseconds.  Before the _SURE ones, a connection is not shut down to make room: they suffice for a client
 * that sends its request, and receives the answer, without delay. */
static const unsigned long long REQUEST = 10000000000ull, REQUEST_SURE = 100000000ull;
static const unsigned long long ANSWER = 30000000000ull, ANSWER_SURE = 5000000000ull;

/* MHD closes the descriptor when its thread notices; until then the number cannot be reused. */
static void shut(struct web_connection *c)
{
	shutdown(c->fd, SHUT_RDWR);
	c->phase = WEB_SHUT;
}

static bool can_make_room(const struct web_connection *c, unsigned long long now)
{
	return (c->phase == WEB_WAITS_FOR && now - c->since > REQUEST_SURE) ||
	       (c->phase == WEB_SENDS && now - c->since > ANSWER_SURE);
}

bool web_connections_room(struct web_connections *t)
{
	struct web_connection *slow = NULL;
	unsigned long long now;
	int served = 0, used = 0;

	pthread_mutex_lock(&t->lock);
	now = clock_ns();	/* under the lock: other threads set times */
	for (struct web_connection *c = t->slot; c < t->slot + WEB_SLOTS; c++) {
		used += c->phase != WEB_FREE;
		served += c->phase != WEB_FREE && c->phase != WEB_SHUT;
		if (can_make_room(c, now) && (!slow || c->since < slow->since))
			slow = c;
	}
	if (used < WEB_SLOTS && served >= WEB_CONNECTIONS && slow) {
		shut(slow);
		served--;
	}
	pthread_mutex_unlock(&t->lock);
	return used < WEB_SLOTS && served < WEB_CONNECTIONS;
}

static struct web_connection *connection_find(struct web_connections *t, int fd)
{
	for (struct web_connection *c = t->slot; c < t->slot + WEB_SLOTS; c++)
		if (c->phase != WEB_FREE && c->fd == fd)
			return c;
	return NULL;
}

void web_connections_add(struct web_connections *t, int fd)
{
	pthread_mutex_lock(&t->lock);
	for (struct web_connection *c = t->slot; c < t->slot + WEB_SLOTS; c++)
		if (c->phase == WEB_FREE) {
			*c = (struct web_connection){ .fd = fd, .phase = WEB_WAITS_FOR, .since = clock_ns(), .all = t };
			break;
		}
	pthread_mutex_unlock(&t->lock);
}

struct web_connection *web_connections_find(struct web_connections *t, int fd)
{
	struct web_connection *c;

	pthread_mutex_lock(&t->lock);
	c = connection_find(t, fd);
	pthread_mutex_unlock(&t->lock);
	return c;
}

void web_connection_phase(struct web_connections *t, struct web_connection *c, enum web_phase phase)
{
	pthread_mutex_lock(&t->lock);
	if (c && c->phase != WEB_SHUT && c->phase != WEB_FREE) {
		c->phase = phase;
		c->since = clock_ns();
		if (phase == WEB_WAITS_FOR && t->closing)
			shut(c);	/* it had begun its answer before */
	}
	pthread_mutex_unlock(&t->lock);
}

bool web_connection_ends(const struct web_connection *c)
{
	return !c || c->all->closing || c->all->wanted;
}

void web_connections_remove(struct web_connections *t, int fd)
{
	struct web_connection *c;

	pthread_mutex_lock(&t->lock);
	c = connection_find(t, fd);
	if (c)
		c->phase = WEB_FREE;
	pthread_mutex_unlock(&t->lock);
}

static bool too_long(const struct web_connection *c, unsigned long long now)
{
	return (c->phase == WEB_WAITS_FOR && now - c->since > REQUEST) ||
	       (c->phase == WEB_SENDS && now - c->since > ANSWER);
}

int web_connections_expire(struct web_connections *t)
{
	unsigned long long now;
	int n = 0;

	pthread_mutex_lock(&t->lock);
	now = clock_ns();
	for (struct web_connection *c = t->slot; c < t->slot + WEB_SLOTS; c++) {
		if (too_long(c, now))
			shut(c);
		n += c->phase != WEB_FREE;
	}
	pthread_mutex_unlock(&t->lock);
	return n;
}

void web_connections_shut_idle(struct web_connections *t)
{
	pthread_mutex_lock(&t->lock);
	for (struct web_connection *c = t->slot; c < t->slot + WEB_SLOTS; c++)
		if (c->phase == WEB_WAITS_FOR)
			shut(c);
	pthread_mutex_unlock(&t->lock);
}
