/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* cudaexporter's web server, as the collector sees it: a process of its own, without any right, that speaks
 * HTTP and TLS and asks the collector for each page.  The collector never waits for it. */
#ifndef WEB_H
#define WEB_H
#include "cudaexporter/web_request.h"

/* page and ctx are set by the owner before web_open(), the rest starts zeroed. */
struct web {
	web_page_fn *page;
	void *ctx;
	struct web_collector *collector;	/* private */
};

/* Call first in main(): the server is the same program, executed again.  Returns in any other process. */
void web_serve_if_server(int argc, char **argv);

/* Reads the config, binds the sockets and starts the server; notes each address.  Call before BPF programs
 * are loaded.  A mistake in the options or the config is a usage error, what the system refuses is fatal: either
 * exits.  The options' strings must outlive w. */
void web_open(struct web *w, const struct web_options *o);

/* Returns a descriptor of w that is readable when web_tick() has something to do. */
int web_fd(const struct web *w);

/* Call then, and otherwise a few times a second: answers requests through page(), takes a new config over, starts a server that
 * ended again.  Bounded, and never waits. */
void web_tick(struct web *w);

/* Ends the server, and waits up to a second for it.  Does nothing if w was not opened. */
void web_close(struct web *w);

#endif
