/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which config is served by which server process. */
#ifndef WEB_COLLECTOR_H
#define WEB_COLLECTOR_H
#include "cudaexporter/web_request.h"
#include "cudaexporter/web_bundle.h"
#include "cudaexporter/web_config.h"
#include "cudaexporter/web_killed.h"
#include "cudaexporter/web_message.h"
#include "cudaexporter/web_process.h"

enum { WEB_LEAVING = 4 };

struct web_collector {
	struct web_options options;
	int listen[WEB_LISTEN_MAX], nlisten;
	struct web_config *config;	/* the last one read, which may be wrong; NULL: none was named */
	bool tls, users;		/* what the config had that is served: a later one must have it, too */
	enum web_client_auth client_auth;	/* likewise: or a stricter one */
	unsigned char secret[WEB_SECRET];
	int bundle;
	struct web_process server, leaving[WEB_LEAVING];
	struct web_killed killed[WEB_KILLED];
	int turn;				/* which of the servers was answered last */
	int sockets;				/* an epoll descriptor of theirs */
	unsigned long long next_look, next_start, delay, said, kept;	/* as clock_ns() */
};

/* Packs the config for servers that are started later.  Returns 0 or an errno: then they have the one before. */
int web_collector_pack(struct web_collector *c);

/* Starts the server.  Returns 0 or an errno. */
int web_collector_start(struct web_collector *c);

/* Looks whether the config or its files changed, and has a new server serve it if they did and it is right.  Return
 * true if the config is right. */
bool web_collector_look(struct web_collector *c);

/* Call often, when messages have been read: starts the server if there is none, replaces one that answers nothing, kills
 * those that do not leave. */
void web_collector_keep(struct web_collector *c);

/* Call when the server's socket says that it ended. */
void web_collector_ended(struct web_collector *c, struct web_process *p);

#endif
