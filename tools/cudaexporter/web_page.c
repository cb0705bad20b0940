/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "cudaexporter/web_accept.h"
#include "cudaexporter/web_page.h"
#include "cudaexporter/web_response.h"
#include "cudaexporter/web_state.h"

static const char timeout_header[] = "X-Prometheus-Scrape-Timeout-Seconds";

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static enum MHD_Result plain(struct MHD_Connection *c, unsigned status, const char *text)
{
	return web_respond(c, status, WEB_PLAIN, text, NULL, NULL);
}

/* Until when an answer is of use, half a second before Prometheus gives up: 9.5 s if it does not say. */
static unsigned long long deadline(struct MHD_Connection *c)
{
	const char *s = header(c, timeout_header);
	double seconds = s ? atof(s) : 10;

	if (!(seconds > 0 && seconds < 120))
		seconds = 10;
	seconds = seconds > .6 ? seconds - .5 : .1;
	return clock_ns() + (unsigned long long)(seconds * 1e9);
}

/* As struct web_request has it. */
static unsigned long long scraper(const struct web_server *s, struct MHD_Connection *c)
{
	const struct sockaddr *a = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
	unsigned char digest[32];
	unsigned long long hash;
	const void *bytes = &((const struct sockaddr_in *)a)->sin_addr;
	size_t size = sizeof(struct in_addr);

	if (!header(c, timeout_header))
		return 0;
	if (a->sa_family == AF_INET6) {
		bytes = &((const struct sockaddr_in6 *)a)->sin6_addr;
		size = sizeof(struct in6_addr);
	}
	if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, s->bundle.secret, WEB_SECRET, bytes, size, digest) < 0)
		return 1;
	memcpy(&hash, digest, sizeof(hash));
	return hash ? hash : 1;
}

/* Return true if one more scrape may be under way; end_scrape() ends it. */
static bool begin_scrape(struct web_server *s)
{
	bool ok;

	pthread_mutex_lock(&s->scrapes_lock);
	ok = s->scrapes < s->bundle.max_requests;
	s->scrapes += ok;
	pthread_mutex_unlock(&s->scrapes_lock);
	return ok;
}

static void end_scrape(struct web_server *s)
{
	pthread_mutex_lock(&s->scrapes_lock);
	s->scrapes--;
	pthread_mutex_unlock(&s->scrapes_lock);
}

/* Of a scrape that is under way. */
static enum MHD_Result scrape(struct web_server *s, struct MHD_Connection *c, enum web_what what)
{
	static const char *const types[] = { "text/plain; version=0.0.4; charset=utf-8",
					     "application/openmetrics-text; version=1.0.0; charset=utf-8" };
	struct web_request r = { .what = what, .scraper = scraper(s, c),
				 .format = what == WEB_METRICS ? web_accept_format(header(c, "Accept")) : WEB_TEXT };
	int fd;
	enum web_answer answer = web_ask_page(&s->ask, &r, deadline(c), &fd);

	if (answer == WEB_ANSWER_LATE)
		return plain(c, MHD_HTTP_SERVICE_UNAVAILABLE, "the page was not ready in time\n");
	if (answer == WEB_ANSWER_NONE || fd < 0)
		return plain(c, MHD_HTTP_SERVICE_UNAVAILABLE, "there is no page yet\n");
	return web_respond_page(c, what == WEB_METRICS ? types[r.format] : WEB_PLAIN, fd,
				web_accept_gzip(header(c, "Accept-Encoding")));
}

static enum MHD_Result page(struct web_server *s, struct MHD_Connection *c, enum web_what what)
{
	enum MHD_Result done;

	if (!begin_scrape(s))
		return plain(c, MHD_HTTP_SERVICE_UNAVAILABLE, "too many scrapes at once (--web.max-requests)\n");
	done = scrape(s, c, what);
	end_scrape(s);
	return done;
}

/* Healthy is who answers at all, ready who has its probes in. */
static enum MHD_Result state(struct web_server *s, struct MHD_Connection *c, bool healthy)
{
	struct web_request r = { .what = WEB_READY };
	int fd;

	switch (web_ask_page(&s->ask, &r, deadline(c), &fd)) {
	case WEB_ANSWER_PAGE:
		return plain(c, MHD_HTTP_OK, healthy ? "healthy\n" : "ready\n");
	case WEB_ANSWER_NONE:
		return healthy ? plain(c, MHD_HTTP_OK, "healthy\n") :
				 plain(c, MHD_HTTP_SERVICE_UNAVAILABLE, "the probes are not in yet\n");
	default:
		return plain(c, MHD_HTTP_SERVICE_UNAVAILABLE, "the collector does not answer\n");
	}
}

static enum MHD_Result front(struct web_server *s, struct MHD_Connection *c)
{
	char text[1024];

	snprintf(text, sizeof(text), "<!doctype html>\n<title>cudaexporter</title>\n<h1>cudaexporter</h1>\n<ul>\n"
		 "<li><a href=\"%s\">Metrics</a>\n<li><a href=\"/probes\">Probes</a>\n"
		 "<li><a href=\"/-/healthy\">Healthy</a>\n<li><a href=\"/-/ready\">Ready</a>\n</ul>\n", s->bundle.path);
	return web_respond(c, MHD_HTTP_OK, "text/html; charset=utf-8", text, NULL, NULL);
}

static enum MHD_Result route(struct web_server *s, struct MHD_Connection *c, const char *url)
{
	if (!strcmp(url, s->bundle.path))
		return page(s, c, WEB_METRICS);
	if (!strcmp(url, "/probes"))
		return page(s, c, WEB_PROBES);
	if (!strcmp(url, "/-/healthy") || !strcmp(url, "/-/ready"))
		return state(s, c, !strcmp(url, "/-/healthy"));
	if (!strcmp(url, "/"))
		return front(s, c);
	return plain(c, MHD_HTTP_NOT_FOUND, "there is no such page\n");
}

static enum web_auth_result authenticate(struct web_server *s, struct MHD_Connection *c)
{
	char *password = NULL, *name;
	enum web_auth_result result = WEB_AUTH_WRONG;

	if (!s->auth.nusers)
		return WEB_AUTH_RIGHT;
	name = MHD_basic_auth_get_username_password(c, &password);
	if (name && password)
		result = web_auth_check(&s->auth, name, password);
	if (password)
		explicit_bzero(password, strlen(password));
	MHD_free(password);
	MHD_free(name);
	return result;
}

static enum MHD_Result answer(struct web_server *s, struct MHD_Connection *c, const char *url)
{
	switch (authenticate(s, c)) {
	case WEB_AUTH_RIGHT:
		return route(s, c, url);
	case WEB_AUTH_WRONG:
		return web_respond(c, MHD_HTTP_UNAUTHORIZED, WEB_PLAIN, "unauthorized\n", "WWW-Authenticate",
				   "Basic realm=\"cudaexporter\", charset=\"UTF-8\"");
	default:
		return plain(c, MHD_HTTP_SERVICE_UNAVAILABLE, "too many passwords are being checked\n");
	}
}

enum MHD_Result web_page(void *ctx, struct MHD_Connection *c, const char *url, const char *method, const char *version,
			 const char *upload, size_t *upload_size, void **request)
{
	struct web_server *s = ctx;
	struct web_connection *at = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	enum MHD_Result done;

	(void)version;
	(void)upload;
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return web_respond(c, MHD_HTTP_METHOD_NOT_ALLOWED, WEB_PLAIN, "only GET and HEAD\n", "Allow", "GET, HEAD");
	if (!*request) {	/* the headers alone; a body may follow, and is dropped */
		*request = s;
		return MHD_YES;
	}
	if (*upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	web_connection_phase(&s->connections, at, WEB_WORKS);
	done = answer(s, c, url);
	web_connection_phase(&s->connections, at, WEB_SENDS);
	return done;
}
