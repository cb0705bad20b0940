/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* cudaexporter's web server, as the collector sees it: a process of its own, without any right, that speaks
 * HTTP and TLS and asks the collector for each page.  The collector never waits for it. */
#ifndef WEB_H
#define WEB_H
#include <stdbool.h>
#include <stdio.h>

struct web_options {
	const char **listen;		/* HOST:PORT, :PORT (all addresses), [IPV6]:PORT; port 0: any that is free */
	int nlisten;			/* 0: 127.0.0.1:10950, or :10950 with a config file */
	const char *path;		/* of the metrics; NULL: /metrics */
	const char *config_file;	/* TLS and users, as exporter-toolkit's; NULL: none */
	long max_requests;		/* scrapes at once, more get status 503; 0: 4 */
};

enum web_format { WEB_TEXT, WEB_OPENMETRICS };
enum web_what { WEB_METRICS, WEB_PROBES, WEB_READY };

struct web_request {
	enum web_format format;		/* of WEB_METRICS */
	enum web_what what;
	/* Who asks: a hash of its address, the same for as long as the collector runs; 0: it sent no
	 * X-Prometheus-Scrape-Timeout-Seconds, so it is no Prometheus. */
	unsigned long long scraper;
};

/* Writes a page to out.  Returns false if there is none yet, for status 503; what it wrote is dropped then.
 * WEB_READY writes nothing: true once the probes are in. */
typedef bool web_page_fn(void *ctx, const struct web_request *request, FILE *out);

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

/* Call every few milliseconds: answers requests through page(), takes a new config over, starts a server that
 * ended again.  Bounded, and never waits. */
void web_tick(struct web *w);

/* Ends the server, and waits up to a second for it.  Does nothing if w was not opened. */
void web_close(struct web *w);

#endif
