/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The server's state, and its connections with their deadlines: a slow client cannot keep others out. */
#ifndef CUDAEXPORTER_WEB_CONNECTIONS_H
#define CUDAEXPORTER_WEB_CONNECTIONS_H
#include <stdatomic.h>
#include "cudaexporter/web_auth.h"
#include "cudaexporter/web_rpc.h"

struct MHD_Daemon;

/* At most WEB_CONNECTIONS are served; the others of WEB_SLOTS have been shut down and are about to end. */
enum { WEB_CONNECTIONS = 8, WEB_SLOTS = 16 };

enum web_phase {
	WEB_FREE,		/* the slot */
	WEB_WAITS_FOR,		/* a request, or the rest of one */
	WEB_WORKS,		/* on its answer, which has its own deadline */
	WEB_SENDS,		/* the answer */
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
	/* Set by the accepting thread: while either is set, answers end their connections. */
	atomic_bool closing;		/* the server's config is outdated */
	atomic_bool wanted;		/* a client waits for room */
	struct web_connection slot[WEB_SLOTS];
};

/* Shared by the threads of connections. */
struct web_server {
	struct web_server_config config;
	struct web_rpc rpc;
	struct web_connections connections;
	struct web_auth auth;
	pthread_mutex_t scrapes_lock;
	long scrapes;			/* in progress */
	struct MHD_Daemon *http;
	/* the accepting thread's */
	int nlisten;
	uint64_t asking;		/* the unanswered request whether to accept; 0: none */
	unsigned long long asked;	/* when, as clock_ns() */
	bool leaving;
	bool full;			/* a connection waits for room */
};

/* Return true if one more can be accepted.  Shuts down the connection that has waited longest, if need be. */
bool web_connections_room(struct web_connections *t);

/* Adds an accepted one, after web_connections_room(). */
void web_connections_add(struct web_connections *t, int fd);

/* Returns the connection of a descriptor, for web_connection_phase(). */
struct web_connection *web_connections_find(struct web_connections *t, int fd);

/* Sets a connection's phase.  c may be NULL. */
void web_connection_phase(struct web_connections *t, struct web_connection *c, enum web_phase phase);

/* Return true if the connection is to end after its answer.  c: NULL for an unknown one. */
bool web_connection_ends(const struct web_connection *c);

/* Call before the descriptor is closed; it may be unknown. */
void web_connections_remove(struct web_connections *t, int fd);

/* Shuts down those over their deadline: 10 s for a request, 30 s to take the answer.  Returns the number of all. */
int web_connections_expire(struct web_connections *t);

/* Shuts down those that wait for a request. */
void web_connections_shut_idle(struct web_connections *t);

#endif
