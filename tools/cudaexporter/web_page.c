/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>
#include <zlib.h>
#include "base/clock.h"
#include "cudaexporter/web_connections.h"
#include "cudaexporter/web_page.h"

#define WEB_PLAIN "text/plain; charset=utf-8"

/* An element of an Accept or Accept-Encoding header (RFC 9110): its name, its parameters up to the comma, its weight in
 * thousandths. */
struct element {
	const char *name, *end;
	size_t length;
	int weight;
};

static const char *skip(const char *s, const char *these)
{
	return s + strspn(s, these);
}

/* 0 to 1 with at most three digits after the point; anything else is 0. */
static int weight_of(const char *s, const char *end)
{
	int w, digit = 100;

	if (s == end || (*s != '0' && *s != '1'))
		return 0;
	w = (*s++ - '0') * 1000;
	if (s < end && *s == '.')
		for (s++; s < end && *s >= '0' && *s <= '9' && digit; s++, digit /= 10)
			w += (*s - '0') * digit;
	return s < end && !strchr(" \t;", *s) ? 0 : w > 1000 ? 1000 : w;
}

/* Returns the value of a parameter of e, up to *end, or NULL. */
static const char *parameter(const struct element *e, const char *name, const char **end)
{
	const char *s = e->name + e->length;

	while ((s = memchr(s, ';', e->end - s))) {
		size_t n;

		s = skip(s + 1, " \t");
		n = strcspn(s, "=;, \t");
		*end = s + strcspn(s, ";,");
		if (n == strlen(name) && !strncasecmp(s, name, n) && s[n] == '=') {
			s += n + 1;
			return s < *end && *s == '"' ? s + 1 : s;
		}
		s = *end;
	}
	return NULL;
}

/* Reads the next element of the list at *s.  Returns false at its end. */
static bool next(const char **s, struct element *e)
{
	const char *q, *end;

	e->name = skip(*s, " \t,");
	if (!*e->name)
		return false;
	e->length = strcspn(e->name, ";, \t");
	e->end = e->name + strcspn(e->name, ",");
	q = parameter(e, "q", &end);
	e->weight = q ? weight_of(q, end) : 1000;
	*s = e->end;
	return true;
}

static bool is(const struct element *e, const char *name)
{
	return e->length == strlen(name) && !strncasecmp(e->name, name, e->length);
}

static bool begins(const char *s, const char *end, const char *with)
{
	size_t n = strlen(with);

	return (size_t)(end - s) >= n && !strncmp(s, with, n);
}

/* Return true if e names OpenMetrics in a supported version: 1.0 or none. */
static bool is_openmetrics(const struct element *e)
{
	const char *version, *end;

	if (!is(e, "application/openmetrics-text"))
		return false;
	version = parameter(e, "version", &end);
	return !version || begins(version, end, "1.0.0");
}

/* Return true if e accepts the text format: 0.0.4 or no version. */
static bool is_text(const struct element *e)
{
	const char *version, *end;

	if (is(e, "*/*") || is(e, "text/*"))
		return true;
	if (!is(e, "text/plain"))
		return false;
	version = parameter(e, "version", &end);
	return !version || begins(version, end, "0.0.4");
}

enum web_format web_accept_format(const char *accept)
{
	enum web_format best = WEB_TEXT;
	struct element e;
	int weight = 0;

	for (const char *s = accept ? accept : ""; next(&s, &e); )
		if (e.weight > weight && (is_openmetrics(&e) || is_text(&e))) {
			weight = e.weight;
			best = is_openmetrics(&e) ? WEB_OPENMETRICS : WEB_TEXT;
		}
	return best;
}

bool web_accept_gzip(const char *encodings)
{
	int gzip = -1, any = 0, identity = 0;
	struct element e;

	for (const char *s = encodings ? encodings : ""; next(&s, &e); ) {
		if (is(&e, "gzip") || is(&e, "x-gzip"))
			gzip = e.weight;
		else if (is(&e, "*"))
			any = e.weight;
		else if (is(&e, "identity"))
			identity = e.weight;
	}
	if (gzip < 0)
		gzip = any;
	return gzip && gzip >= identity;
}

enum { GZIP = 16 /* zlib's: a gzip header */, MEMORY = 8 /* zlib's default */ };

/* Compresses size bytes at gzip's level 1.  Returns them and their number in *compressed; the caller frees them.  NULL if
 * out of memory. */
static void *web_gzip(const void *bytes, size_t size, size_t *compressed)
{
	z_stream z = { .next_in = (unsigned char *)bytes, .avail_in = size };
	size_t room;
	void *out;

	if (deflateInit2(&z, 1, Z_DEFLATED, MAX_WBITS + GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	room = deflateBound(&z, size);
	out = malloc(room);
	z.next_out = out;
	z.avail_out = room;
	if (out && deflate(&z, Z_FINISH) != Z_STREAM_END) {
		free(out);
		out = NULL;
	}
	*compressed = z.total_out;
	deflateEnd(&z);
	return out;
}

enum { SMALL = 16 << 10, LARGE = 256 << 20 };

/* Queues and releases r, which may be NULL. */
static enum MHD_Result send_it(struct MHD_Connection *c, unsigned status, struct MHD_Response *r, const char *type)
{
	const struct web_connection *at = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	/* a client without the password must not occupy a connection */
	if (status == MHD_HTTP_UNAUTHORIZED || web_connection_ends(at))
		MHD_add_response_header(r, "Connection", "close");
	MHD_add_response_header(r, "Content-Type", type);
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	done = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return done;
}

/* Answers with a copy of a text of this type.  header: an additional one, with its value, or NULL. */
static enum MHD_Result web_respond(struct MHD_Connection *c, unsigned status, const char *type, const char *text,
			    const char *header, const char *value)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);

	if (r && header)
		MHD_add_response_header(r, header, value);
	return send_it(c, status, r, type);
}

static struct MHD_Response *compressed(int fd, size_t size)
{
	struct MHD_Response *r = NULL;
	size_t less = 0;
	void *page = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0), *bytes = NULL;

	if (page != MAP_FAILED) {
		bytes = web_gzip(page, size, &less);
		munmap(page, size);
	}
	if (bytes)
		r = MHD_create_response_from_buffer(less, bytes, MHD_RESPMEM_MUST_FREE);
	if (r)
		MHD_add_response_header(r, "Content-Encoding", "gzip");
	return r;
}

/* Answers with a sealed memory file, which it closes.  gzip: compresses more than 16 KiB. */
static enum MHD_Result web_respond_page(struct MHD_Connection *c, const char *type, int fd, bool gzip)
{
	off_t size = lseek(fd, 0, SEEK_END);
	struct MHD_Response *r = NULL;

	if (size < 0 || size > LARGE) {
		close(fd);
		return web_respond(c, MHD_HTTP_INTERNAL_SERVER_ERROR, WEB_PLAIN, "the page is too large\n", NULL, NULL);
	}
	if (gzip && size > SMALL)
		r = compressed(fd, size);
	if (r)
		close(fd);
	else
		r = MHD_create_response_from_fd_at_offset64(size, fd, 0);
	if (r)
		MHD_add_response_header(r, "Vary", "Accept, Accept-Encoding");
	else
		close(fd);
	return send_it(c, MHD_HTTP_OK, r, type);
}

static const char timeout_header[] = "X-Prometheus-Scrape-Timeout-Seconds";

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static enum MHD_Result plain(struct MHD_Connection *c, unsigned status, const char *text)
{
	return web_respond(c, status, WEB_PLAIN, text, NULL, NULL);
}

/* Returns the deadline of an answer: half a second before Prometheus's timeout, by default 9.5 s. */
static unsigned long long deadline(struct MHD_Connection *c)
{
	const char *s = header(c, timeout_header);
	double seconds = s ? atof(s) : 10;

	if (!(seconds > 0 && seconds < 120))
		seconds = 10;
	seconds = seconds > .6 ? seconds - .5 : .1;
	return clock_ns() + (unsigned long long)(seconds * 1e9);
}

/* Returns the scraper for struct web_request. */
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
	if (gnutls_hmac_fast(GNUTLS_MAC_SHA256, s->config.secret, WEB_SECRET, bytes, size, digest) < 0)
		return 1;
	memcpy(&hash, digest, sizeof(hash));
	return hash ? hash : 1;
}

/* Return true if one more concurrent scrape is allowed; end_scrape() ends it. */
static bool begin_scrape(struct web_server *s)
{
	bool ok;

	pthread_mutex_lock(&s->scrapes_lock);
	ok = s->scrapes < s->config.max_requests;
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

static enum MHD_Result scrape(struct web_server *s, struct MHD_Connection *c, enum web_what what)
{
	static const char *const types[] = { "text/plain; version=0.0.4; charset=utf-8",
					     "application/openmetrics-text; version=1.0.0; charset=utf-8" };
	struct web_request r = { .what = what, .scraper = scraper(s, c),
				 .format = what == WEB_METRICS ? web_accept_format(header(c, "Accept")) : WEB_TEXT };
	int fd;
	enum web_answer answer = web_rpc_page(&s->rpc, &r, deadline(c), &fd);

	if (answer == WEB_ANSWER_LATE)
		return plain(c, MHD_HTTP_SERVICE_UNAVAILABLE, "the page was not ready in time\n");
	if (answer == WEB_ANSWER_NONE || fd < 0)
		return plain(c, MHD_HTTP_SERVICE_UNAVAILABLE, "no page yet\n");
	return web_respond_page(c, what == WEB_METRICS ? types[r.format] : WEB_PLAIN, fd,
				web_accept_gzip(header(c, "Accept-Encoding")));
}

static enum MHD_Result metrics_page(struct web_server *s, struct MHD_Connection *c, enum web_what what)
{
	enum MHD_Result done;

	if (!begin_scrape(s))
		return plain(c, MHD_HTTP_SERVICE_UNAVAILABLE, "too many concurrent scrapes (--web.max-requests)\n");
	done = scrape(s, c, what);
	end_scrape(s);
	return done;
}

/* A profile is compressed already. */
static enum MHD_Result respond_profile(struct MHD_Connection *c, int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	struct MHD_Response *r = size < 0 || size > LARGE ? NULL : MHD_create_response_from_fd_at_offset64(size, fd, 0);

	if (!r) {
		close(fd);
		return plain(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "the profile is too large\n");
	}
	MHD_add_response_header(r, "Content-Disposition", "attachment; filename=\"profile\"");
	return send_it(c, MHD_HTTP_OK, r, "application/octet-stream");
}

/* Reads seconds=N.  Returns false if it is none. */
static bool read_seconds(struct MHD_Connection *c, unsigned *seconds)
{
	const char *s = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "seconds");

	*seconds = 0;
	if (!s)
		return true;
	if (!*s || strlen(s) > 2 || s[strspn(s, "0123456789")])
		return false;
	*seconds = atoi(s);
	return *seconds && *seconds <= WEB_SECONDS;
}

static enum MHD_Result ask_profile(struct web_server *s, struct MHD_Connection *c, const struct web_request *r)
{
	unsigned long long until = deadline(c) + r->seconds * 1000000000ull;
	int fd;

	/* MHD would close a connection that is idle meanwhile */
	if (r->seconds)
		MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, 2 * WEB_SECONDS);
	switch (web_rpc_page(&s->rpc, r, until, &fd)) {
	case WEB_ANSWER_PAGE:
		if (fd >= 0)
			return respond_profile(c, fd);
		/* fall through */
	case WEB_ANSWER_NONE:
		return plain(c, MHD_HTTP_SERVICE_UNAVAILABLE, "no profile yet, or too many at the same time\n");
	default:
		return plain(c, MHD_HTTP_SERVICE_UNAVAILABLE, "the profile was not ready in time\n");
	}
}

static enum MHD_Result profile(struct web_server *s, struct MHD_Connection *c, const char *name)
{
	static const char *const names[] = { "cuda_held", "cuda_launches", "cuda_waits" };
	struct web_request r = { 0 };
	size_t i = 0;

	while (i < sizeof(names) / sizeof(*names) && strcmp(name, names[i]))
		i++;
	if (!s->config.profiles || i == sizeof(names) / sizeof(*names))
		return plain(c, MHD_HTTP_NOT_FOUND, s->config.profiles ? "no such profile\n" : "no profiles: see --profiles\n");
	r.what = WEB_PROFILE_HELD + i;
	if (!read_seconds(c, &r.seconds))
		return plain(c, MHD_HTTP_BAD_REQUEST, "seconds: expected 1 to 30\n");
	if (r.what == WEB_PROFILE_HELD && r.seconds)
		return plain(c, MHD_HTTP_BAD_REQUEST, "cuda_held is what is held now: it has no seconds\n");
	return ask_profile(s, c, &r);
}

/* Healthy: the collector answers; ready: its probes are attached. */
static enum MHD_Result state(struct web_server *s, struct MHD_Connection *c, bool healthy)
{
	struct web_request r = { .what = WEB_READY };
	int fd;

	switch (web_rpc_page(&s->rpc, &r, deadline(c), &fd)) {
	case WEB_ANSWER_PAGE:
		return plain(c, MHD_HTTP_OK, healthy ? "healthy\n" : "ready\n");
	case WEB_ANSWER_NONE:
		return healthy ? plain(c, MHD_HTTP_OK, "healthy\n") :
				 plain(c, MHD_HTTP_SERVICE_UNAVAILABLE, "the probes are not attached yet\n");
	default:
		return plain(c, MHD_HTTP_SERVICE_UNAVAILABLE, "the collector does not respond\n");
	}
}

static enum MHD_Result front(struct web_server *s, struct MHD_Connection *c)
{
	char text[1024];

	snprintf(text, sizeof(text), "<!doctype html>\n<title>cudaexporter</title>\n<h1>cudaexporter</h1>\n<ul>\n"
		 "<li><a href=\"%s\">Metrics</a>\n<li><a href=\"/probes\">Probes</a>\n"
		 "<li><a href=\"/-/healthy\">Healthy</a>\n<li><a href=\"/-/ready\">Ready</a>\n</ul>\n", s->config.path);
	return web_respond(c, MHD_HTTP_OK, "text/html; charset=utf-8", text, NULL, NULL);
}

static enum MHD_Result route(struct web_server *s, struct MHD_Connection *c, const char *url)
{
	if (!strcmp(url, s->config.path))
		return metrics_page(s, c, WEB_METRICS);
	if (!strcmp(url, "/probes"))
		return metrics_page(s, c, WEB_PROBES);
	if (!strncmp(url, "/debug/pprof/", 13))
		return profile(s, c, url + 13);
	if (!strcmp(url, "/-/healthy") || !strcmp(url, "/-/ready"))
		return state(s, c, !strcmp(url, "/-/healthy"));
	if (!strcmp(url, "/"))
		return front(s, c);
	return plain(c, MHD_HTTP_NOT_FOUND, "no such page\n");
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
	if (!*request) {	/* headers only; a body may follow, and is dropped */
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
