/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which connections the server has, and how long each may take: nobody keeps others out by being slow. */
#ifndef WEB_CONNECTIONS_H
#define WEB_CONNECTIONS_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* At most WEB_CONNECTIONS are served; the others of WEB_SLOTS have been shut down and are about to end. */
enum { WEB_CONNECTIONS = 8, WEB_SLOTS = 16 };

enum web_phase {
	WEB_FREE,		/* the slot */
	WEB_WAITS_FOR,		/* a request, or the rest of one */
	WEB_WORKS,		/* on its answer, which has its own deadline */
	WEB_SENDS,		/* it */
	WEB_SHUT,		/* shut down */
};

struct web_connection {
	int fd;
	enum web_phase phase;
	unsigned long long since;	/* as clock_ns() */
	const struct web_connections *all;
};

/* Starts with the lock initialised and the rest zeroed. */
struct web_connections {
	pthread_mutex_t lock;
	/* the accepting thread's to set: while one is, answers end their connections */
	atomic_bool closing;		/* what they are served by is no longer right */
	atomic_bool wanted;		/* a client waits for room */
	struct web_connection slot[WEB_SLOTS];
};

/* Return true if one more can be accepted, having shut down for it, if need be, the one that has waited
 * longest. */
bool web_connections_room(struct web_connections *t);

/* Takes in one that was accepted, after web_connections_room(). */
void web_connections_add(struct web_connections *t, int fd);

/* Returns the connection of a descriptor, for web_connection_phase(). */
struct web_connection *web_connections_find(struct web_connections *t, int fd);

/* Says what a connection does now.  c may be NULL. */
void web_connection_phase(struct web_connections *t, struct web_connection *c, enum web_phase phase);

/* Return true if the answer to its request is to be its last.  c: NULL for one that is not known. */
bool web_connection_ends(const struct web_connection *c);

/* Call before the descriptor is closed; forgets it if it is known. */
void web_connections_remove(struct web_connections *t, int fd);

/* Shuts down those that take too long: 10 s for a request, 30 s to take the answer.  Returns how many there are. */
int web_connections_expire(struct web_connections *t);

/* Shuts down those that wait for a request. */
void web_connections_shut_idle(struct web_connections *t);

#endif
