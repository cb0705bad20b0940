/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the web server is asked to be, and what it asks the collector for. */
#ifndef WEB_REQUEST_H
#define WEB_REQUEST_H
#include <stdbool.h>
#include <stdio.h>

struct web_options {
	const char **listen;		/* HOST:PORT, :PORT (all addresses), [IPV6]:PORT; port 0: any that is free */
	int nlisten;			/* 0: 127.0.0.1:10950, or :10950 with a config that asks who it is */
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

#endif
