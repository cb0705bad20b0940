/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The state of the server process. */
#ifndef WEB_STATE_H
#define WEB_STATE_H
#include "cudaexporter/web_ask.h"
#include "cudaexporter/web_auth.h"
#include "cudaexporter/web_bundle.h"
#include "cudaexporter/web_connections.h"

struct MHD_Daemon;

/* What the threads of connections share. */
struct web_server {
	struct web_bundle bundle;
	struct web_ask ask;
	struct web_connections connections;
	struct web_auth auth;
	pthread_mutex_t scrapes_lock;
	long scrapes;			/* under way */
	struct MHD_Daemon *http;
	/* the accepting thread's */
	int nlisten;
	uint64_t asking;		/* the question whether to accept that has no answer yet; 0: none */
	unsigned long long asked;	/* when, as clock_ns() */
	bool leaving;
	bool full;			/* a connection waits for room */
};

#endif
