/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "cli/opt.h"
#include "cudaexporter/web.h"
#include "cudaexporter/web_collector.h"
#include "cudaexporter/web_listen.h"
#include "cudaexporter/web_server.h"

enum { MESSAGES = 8 /* a tick, of each server */ };
static const unsigned long long DELAY = 1000000000ull;	/* from one start of a server to the next */

void web_serve_if_server(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[0], WEB_SERVER) && atoi(argv[1]) > 0 && atoi(argv[1]) <= WEB_LISTEN_MAX)
		web_server_run(atoi(argv[1]));
}

static void check_path(const char *path)
{
	static const char fine[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";

	if (*path != '/' || !path[1] || path[strspn(path, fine)] || strlen(path) > 255)
		usage_error("--web.telemetry-path: '%s' is not a path such as /metrics, of letters, digits and -._~/",
			    path);
	if (!strcmp(path, "/probes") || !strncmp(path, "/-/", 3))
		usage_error("--web.telemetry-path: '%s' is another page's", path);
}

static void read_config(struct web_collector *c)
{
	if (!c->options.config_file)
		return;
	c->config = web_config_read(c->options.config_file);
	if (c->config->error)
		die_status(EXIT_USAGE, 0, "%s", c->config->error);
}

static const char *default_address(const struct web_collector *c)
{
	if (c->config && web_config_protects(c->config))
		return ":10950";
	if (c->config)
		note("'%s' has neither TLS with users nor a client_auth_type that requires certificates: without "
		     "--web.listen-address, this host alone is served", c->options.config_file);
	return "127.0.0.1:10950";
}

static void listen_all(struct web_collector *c)
{
	const char *by_default = c->options.nlisten ? NULL : default_address(c);
	const char **addresses = c->options.nlisten ? c->options.listen : &by_default;
	char name[80];

	c->nlisten = c->options.nlisten ? c->options.nlisten : 1;
	if (c->nlisten > WEB_LISTEN_MAX)
		usage_error("--web.listen-address: more than %d addresses", WEB_LISTEN_MAX);
	for (int i = 0; i < c->nlisten; i++) {
		c->listen[i] = web_listen(addresses[i]);
		web_listen_name(c->listen[i], name, sizeof(name));
		note("listening on %s://%s%s", c->config && c->config->tls_line ? "https" : "http", name, c->options.path);
	}
}

void web_open(struct web *w, const struct web_options *o)
{
	struct web_collector *c = xcalloc(1, sizeof(*c));
	int err;

	c->options = *o;
	if (!c->options.path)
		c->options.path = "/metrics";
	if (!c->options.max_requests)
		c->options.max_requests = 4;
	check_path(c->options.path);
	read_config(c);
	listen_all(c);
	if (getrandom(c->secret, sizeof(c->secret), 0) != sizeof(c->secret))
		die(errno, "no random numbers");
	c->bundle = -1;
	c->delay = DELAY;
	err = web_collector_pack(c);
	if (err)
		die(err, "no memory file for the web server's configuration");
	c->sockets = web_fd_high(epoll_create1(EPOLL_CLOEXEC));
	if (c->sockets < 0)
		die(errno, "cannot wait for the web server");
	err = web_collector_start(c);
	if (err)
		die(err, "cannot start the web server");
	w->collector = c;
}

int web_fd(const struct web *w)
{
	return w->collector->sockets;
}

/* Writes a page into a sealed memory file.  Returns -1 if there is none. */
static int page(const struct web *w, const struct web_request *r)
{
	int fd = memfd_create("cudaexporter-page", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	FILE *f = fd >= 0 ? web_file_of(fd) : NULL;
	bool ok = f && w->page(w->ctx, r, f);

	if (f && (ferror(f) | fclose(f)))
		ok = false;
	if (ok && web_seal(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool ready(const struct web *w, const struct web_request *r)
{
	FILE *nothing = fopen("/dev/null", "w");
	bool is = nothing && w->page(w->ctx, r, nothing);

	if (nothing)
		fclose(nothing);
	return is;
}

static void answer_page(struct web *w, struct web_process *p, const struct web_message *m)
{
	struct web_request r = { .format = m->format == WEB_OPENMETRICS ? WEB_OPENMETRICS : WEB_TEXT,
				 .what = m->what, .scraper = m->scraper };
	struct web_message a = { .type = WEB_PAGE, .id = m->id };
	int fd = -1;

	if (m->what == WEB_READY) {
		a.ok = ready(w, &r);
	} else if (m->what == WEB_METRICS || m->what == WEB_PROBES) {
		fd = page(w, &r);
		a.ok = fd >= 0;
	}
	/* a server that does not read it will not wait for it either */
	web_message_send(p->socket, &a, fd);
	if (fd >= 0)
		close(fd);
}

static void answer_accept(struct web *w, struct web_process *p, const struct web_message *m)
{
	struct web_message a = { .type = WEB_ACCEPT, .id = m->id };
	int pid = p->pid;

	a.ok = web_collector_look(w->collector);
	/* if a new server has taken its place, the new one accepts */
	if (p->pid == pid && !p->kill_at)
		web_message_send(p->socket, &a, -1);
}

/* Return true if a page was printed, for which no other is in this tick.  The server may become another one while
 * it is answered. */
static bool serve(struct web *w, struct web_process *p)
{
	struct web_message m;
	int got = 1, pid = p->pid;

	for (int i = 0; i < MESSAGES && p->pid == pid && pid; i++) {
		got = web_message_receive_alone(p->socket, &m);
		if (got <= 0)
			break;
		p->heard = clock_ns();
		p->asked = 0;
		if (m.type == WEB_ASK_PAGE) {
			answer_page(w, p, &m);
			if (m.what != WEB_READY)
				return true;
		} else if (m.type == WEB_ASK_ACCEPT) {
			answer_accept(w, p, &m);
		}
	}
	if (got < 0)
		web_collector_ended(w->collector, p);
	return false;
}

void web_tick(struct web *w)
{
	struct web_collector *c = w->collector;
	bool printed = false;

	for (int i = 0; i <= WEB_LEAVING && !printed; i++) {
		c->turn = (c->turn + 1) % (1 + WEB_LEAVING);
		printed = serve(w, c->turn ? &c->leaving[c->turn - 1] : &c->server);
	}
	web_collector_keep(c);
}

void web_close(struct web *w)
{
	struct web_collector *c = w->collector;

	if (!c)
		return;
	for (int i = 0; i < c->nlisten; i++)
		close(c->listen[i]);
	if (c->server.pid)
		web_process_close(&c->server, 1000);
	for (int i = 0; i < WEB_LEAVING; i++)
		if (c->leaving[i].pid)
			web_process_close(&c->leaving[i], 0);
	close(c->bundle);
	close(c->sockets);
	web_config_free(c->config);
	free(c);
	w->collector = NULL;
}
