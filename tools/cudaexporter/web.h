/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* cudaexporter's web server, from the collector's side.  The server is a process without privileges that speaks HTTP and
 * TLS and asks the collector for each page.  The collector never waits for it. */
#ifndef CUDAEXPORTER_WEB_H
#define CUDAEXPORTER_WEB_H
#include "cudaexporter/web_rpc.h"

struct web_options {
	const char **listen;		/* HOST:PORT, :PORT (all addresses), [IPV6]:PORT; port 0: any free one */
	int nlisten;			/* 0: 127.0.0.1:10950, or :10950 with a config that authenticates clients */
	const char *path;		/* of the metrics; NULL: /metrics */
	const char *config_file;	/* TLS and users, in exporter-toolkit's format; NULL: none */
	bool profiles;			/* page() has some */
	long max_requests;		/* scrapes at the same time, more get status 503; 0: 4 */
};

/* Writes a page to out.  Returns false if there is none yet, for status 503; its output is dropped then.  WEB_READY
 * writes nothing: true when the probes are attached.  A profile with seconds is requested twice: when it begins, with out
 * NULL, and when it ends. */
typedef bool web_page_fn(void *ctx, const struct web_request *request, FILE *out);

/* Set page and ctx before web_open(); the rest starts zeroed. */
struct web {
	web_page_fn *page;
	void *ctx;
	struct web_collector *collector;	/* private */
};

/* Call first in main(), because the server is the same program, executed again.  Returns in any other process. */
void web_serve_if_server(int argc, char **argv);

/* Reads the config, binds the sockets and starts the server; notes each address.  Call before BPF programs are loaded.
 * Exits on any error; one in the options or the config is a usage error.  The options' strings must outlive w. */
void web_open(struct web *w, const struct web_options *o);

/* Returns a descriptor of w that is readable when web_tick() has work to do. */
int web_fd(const struct web *w);

/* Return true if a profile of some seconds is being made: call web_tick() often. */
bool web_profiles(const struct web *w);

/* Call then, and otherwise a few times a second: answers requests by page(), applies a changed config, restarts a server
 * that ended.  Bounded, and never waits. */
void web_tick(struct web *w);

/* Ends the server, and waits up to a second for it.  Does nothing if w was not opened. */
void web_close(struct web *w);

#endif
