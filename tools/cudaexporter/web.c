/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "cli/opt.h"
#include "cudaexporter/web.h"
#include "cudaexporter/web_process.h"
#include "cudaexporter/web_server.h"

static const unsigned long long SECOND = 1000000000ull, LIVED = 5000000000ull, QUIET = 60000000000ull;
static const unsigned long long SILENT = 10 * 1000000000ull;	/* a stopped or hanging server */

enum { MESSAGES = 8 /* a tick, of each server */, WEB_LEAVING = 4 };

/* The request for a profile of a time to come. */
struct web_later {
	int pid;			/* of the server; 0: none */
	uint64_t id;
	struct web_request request;
	unsigned long long due;		/* as clock_ns() */
};

/* Which server process serves which config. */
struct web_collector {
	struct web_options options;
	int listen[WEB_LISTEN_MAX], nlisten;
	struct web_config *config;	/* the last one read, maybe a wrong one; NULL: without --web.config.file */
	bool tls, users;		/* in the config that is served: a later one must have them, too … */
	enum web_client_auth client_auth;	/* … and at least this */
	unsigned char secret[WEB_SECRET];
	int config_fd;
	struct web_process server, leaving[WEB_LEAVING];
	struct web_killed killed[WEB_KILLED];
	struct web_later later[WEB_LATER];
	int turn;				/* the server that was answered last */
	int sockets;				/* the servers', as an epoll descriptor */
	unsigned long long next_check, next_start, delay, reported, kept;	/* as clock_ns() */
};

static void forget(struct web_file *f)
{
	if (f->text)
		explicit_bzero(f->text, f->size);
	free(f->text);
	f->text = NULL;
}

static void describe(const struct web_config *g, struct web_server_config *b)
{
	b->priority = g->tls_line ? web_cert_priority(g->min_version) : NULL;
	b->cert = g->cert.text;
	b->key = g->key.text;
	b->ca = g->ca.text;
	b->client_auth = g->client_auth;
	b->users = g->users;
	b->nusers = g->nusers;
}

static void served(struct web_collector *c, struct web_config *g)
{
	c->tls = g->tls_line;
	c->users = g->nusers;
	c->client_auth = g->client_auth;
	forget(&g->file);
	forget(&g->cert);
	forget(&g->key);
	forget(&g->ca);
}

/* Writes the config for servers that are started later.  Returns 0 or an errno; they get the previous one then. */
static int pack(struct web_collector *c)
{
	struct web_server_config b = { .path = c->options.path, .max_requests = c->options.max_requests,
				       .profiles = c->options.profiles, .asks = c->config };
	int fd;

	memcpy(b.secret, c->secret, sizeof(b.secret));
	if (c->config)
		describe(c->config, &b);
	fd = web_fd_high(web_config_fd_write(&b));
	if (fd < 0)
		return errno;
	if (c->config_fd >= 0)
		close(c->config_fd);
	c->config_fd = fd;
	if (c->config)
		served(c, c->config);
	return 0;
}

/* Kills a server that leaves, if there is no room for one more. */
static void let_leave(struct web_collector *c)
{
	struct web_process *to = &c->leaving[0];

	if (!c->server.pid)
		return;
	for (int i = WEB_LEAVING - 1; i >= 0; i--)
		if (!c->leaving[i].pid)
			to = &c->leaving[i];
	if (to->pid)
		web_killed_add(c->killed, to, false);
	*to = c->server;
	c->server.pid = 0;
	web_process_leave(to);
}

/* Starts the server.  Returns 0 or an errno. */
static int start_server(struct web_collector *c)
{
	struct epoll_event readable = { .events = EPOLLIN };
	int err = web_process_start(&c->server, c->config_fd, c->listen, c->nlisten);

	/* close() removes it; if it cannot be added, the server waits for ticks */
	if (!err && epoll_ctl(c->sockets, EPOLL_CTL_ADD, c->server.socket, &readable))
		warning(errno, "cannot wait for the web server");
	return err;
}

static void start(struct web_collector *c)
{
	int err = start_server(c);

	if (err)
		warning(err, "cannot start the web server");
	c->next_start = clock_ns() + c->delay;
}

/* Certificates of clients: 0: nothing, 1: a certificate, 2: one of the CA. */
static int rank(enum web_client_auth a)
{
	return a == WEB_CLIENT_VERIFY ? 2 : a == WEB_CLIENT_ANY;
}

/* A config that protects less than the one before is a mistake, or half written. */
static void refuse_less(const struct web_collector *c, struct web_config *g)
{
	const char *lost = NULL;

	if (c->tls && !g->tls_line)
		lost = "tls_server_config";
	else if (c->users && !g->nusers)
		lost = "basic_auth_users";
	else if (rank(g->client_auth) < rank(c->client_auth))
		lost = "client_auth_type";
	if (!g->error && lost)
		g->error = xprintf("%s:1: %s was removed: requires a restart", g->file.path, lost);
}

static void refuse(struct web_collector *c)
{
	struct web_message m = { .type = WEB_ACCEPT };

	warning(0, "%s; refusing connections until this is fixed", c->config->error);
	if (c->server.pid)
		web_message_send(c->server.socket, &m, -1);
}

/* Starts a new server if the config or its files changed and are valid.  Return true if the config is valid. */
static bool check_config(struct web_collector *c)
{
	int err;

	if (!c->config || !web_config_changed(c->config))
		return !c->config || !c->config->error;
	web_config_free(c->config);
	c->config = web_config_read(c->options.config_file);
	refuse_less(c, c->config);
	err = c->config->error ? 0 : pack(c);
	if (err)
		c->config->error = xprintf("%s: cannot create a memory file: %s", c->options.config_file, strerror(err));
	if (c->config->error) {
		refuse(c);
		return false;
	}
	note("web config changed: reloaded '%s'", c->options.config_file);
	let_leave(c);
	start(c);
	return true;
}

/* Kills a server that has ended or (silent) does not respond; starts another one for the one that serves. */
static void end(struct web_collector *c, struct web_process *p, bool silent)
{
	unsigned long long now = clock_ns();
	bool serves = p == &c->server, report = serves && (!c->reported || now - c->reported > QUIET);

	c->delay = now - p->began > LIVED ? SECOND : c->delay < QUIET / 2 ? c->delay * 2 : QUIET;
	if (report && silent)
		warning(0, "web server not responding: restarting it");
	web_killed_add(c->killed, p, report && !silent);
	if (report)
		c->reported = now;
	if (serves && c->next_start < now)
		c->next_start = c->delay > SECOND ? now + c->delay : now;
}

static void ask_alive(struct web_collector *c, unsigned long long now)
{
	const struct web_message m = { .type = WEB_ALIVE };
	unsigned long long paused = now - c->kept;
	struct web_process *p = &c->server;

	c->kept = now;
	if (!p->pid)
		return;
	/* if the collector was stopped, so may the server have been */
	if (p->asked && paused > SECOND)
		p->asked += paused;
	if (p->asked && now - p->asked > SILENT) {
		end(c, p, true);
	} else if (!p->asked && now - p->heard > SECOND) {
		web_message_send(p->socket, &m, -1);
		p->asked = now;
	}
}

/* Call often, when messages have been read: starts the server if there is none, replaces one that does not respond, kills
 * those that do not leave in time. */
static void web_keep(struct web_collector *c)
{
	unsigned long long now = clock_ns();

	web_killed_reap(c->killed);
	ask_alive(c, now);
	if (!c->server.pid && now >= c->next_start)
		start(c);
	for (int i = 0; i < WEB_LEAVING; i++)
		if (web_process_overdue(&c->leaving[i]))
			web_killed_add(c->killed, &c->leaving[i], false);
	if (now >= c->next_check) {
		check_config(c);
		c->next_check = now + SECOND;
	}
}

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
	if (!strcmp(path, "/probes") || !strncmp(path, "/-/", 3) || !strncmp(path, "/debug/", 7))
		usage_error("--web.telemetry-path: '%s' is reserved", path);
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
		     "--web.listen-address, serving this host only", c->options.config_file);
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
		die(errno, "cannot get random numbers");
	c->config_fd = -1;
	c->delay = SECOND;
	err = pack(c);
	if (err)
		die(err, "cannot create a memory file for the web server's configuration");
	c->sockets = web_fd_high(epoll_create1(EPOLL_CLOEXEC));
	if (c->sockets < 0)
		die(errno, "cannot wait for the web server");
	err = start_server(c);
	if (err)
		die(err, "cannot start the web server");
	w->collector = c;
}

int web_fd(const struct web *w)
{
	return w->collector->sockets;
}

/* Writes a page to a sealed memory file.  Returns -1 if that fails or there is no page yet. */
static int page_to_memory(const struct web *w, const struct web_request *r)
{
	int fd;
	FILE *f = web_memfd_open("cudaexporter-page", &fd);

	return f ? web_memfd_seal(f, fd, w->page(w->ctx, r, f)) : -1;
}

static bool ready(const struct web *w, const struct web_request *r)
{
	FILE *nothing = fopen("/dev/null", "w");
	bool is = nothing && w->page(w->ctx, r, nothing);

	if (nothing)
		fclose(nothing);
	return is;
}

static void send_page(const struct web_process *p, uint64_t id, int fd)
{
	const struct web_message a = { .type = WEB_PAGE, .id = id, .ok = fd >= 0 };

	/* ignores errors: a server that does not read the answer does not wait for it */
	web_message_send(p->socket, &a, fd);
	if (fd >= 0)
		close(fd);
}

/* Begins a profile, unless there are too many. */
static void begin_later(struct web *w, const struct web_process *p, const struct web_message *m)
{
	struct web_later *later = w->collector->later;
	struct web_request r = { .what = m->what, .seconds = m->seconds, .begins = true };

	while (r.window < WEB_LATER && later[r.window].pid)
		r.window++;
	if (r.window == WEB_LATER || m->seconds > WEB_SECONDS || !w->page(w->ctx, &r, NULL)) {
		send_page(p, m->id, -1);
		return;
	}
	later[r.window] = (struct web_later){ p->pid, m->id, r, clock_ns() + m->seconds * SECOND };
	later[r.window].request.begins = false;
}

static const struct web_process *web_process_of(const struct web_collector *c, int pid)
{
	for (int i = 0; i < WEB_LEAVING; i++)
		if (c->leaving[i].pid == pid)
			return &c->leaving[i];
	return c->server.pid == pid ? &c->server : NULL;
}

/* Ends a profile that is due; returns true if there was one.  Its server may be gone. */
static bool end_later(struct web *w)
{
	for (struct web_later *l = w->collector->later; l < w->collector->later + WEB_LATER; l++) {
		const struct web_process *p;
		int fd;

		if (!l->pid || clock_ns() < l->due)
			continue;
		fd = page_to_memory(w, &l->request);
		p = web_process_of(w->collector, l->pid);
		if (p)
			send_page(p, l->id, fd);
		else if (fd >= 0)
			close(fd);
		l->pid = 0;
		return true;
	}
	return false;
}

bool web_profiles(const struct web *w)
{
	for (int i = 0; i < WEB_LATER; i++)
		if (w->collector->later[i].pid)
			return true;
	return false;
}

static void answer_page(struct web *w, struct web_process *p, const struct web_message *m)
{
	struct web_request r = { .format = m->format == WEB_OPENMETRICS ? WEB_OPENMETRICS : WEB_TEXT,
				 .what = m->what, .scraper = m->scraper };
	struct web_message a = { .type = WEB_PAGE, .id = m->id };
	int fd = -1;

	if (m->what == WEB_READY) {
		a.ok = ready(w, &r);
	} else if (web_is_profile(m->what) && m->seconds) {
		begin_later(w, p, m);
		return;
	} else if (m->what <= WEB_PROFILE_WAITS) {
		fd = page_to_memory(w, &r);
		a.ok = fd >= 0;
	}
	/* ignores errors: a server that does not read the answer does not wait for it */
	web_message_send(p->socket, &a, fd);
	if (fd >= 0)
		close(fd);
}

static void answer_accept(struct web *w, struct web_process *p, const struct web_message *m)
{
	struct web_message a = { .type = WEB_ACCEPT, .id = m->id };
	int pid = p->pid;

	a.ok = check_config(w->collector);
	/* if a new server has replaced it, that one accepts */
	if (p->pid == pid && !p->kill_at)
		web_message_send(p->socket, &a, -1);
}

/* Return true if a page was printed: one page in a tick.  Answering may replace the server. */
static bool web_serve(struct web *w, struct web_process *p)
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
		end(w->collector, p, false);
	return false;
}

void web_tick(struct web *w)
{
	struct web_collector *c = w->collector;
	bool printed = end_later(w);

	for (int i = 0; i <= WEB_LEAVING && !printed; i++) {
		c->turn = (c->turn + 1) % (1 + WEB_LEAVING);
		printed = web_serve(w, c->turn ? &c->leaving[c->turn - 1] : &c->server);
	}
	web_keep(c);
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
	close(c->config_fd);
	close(c->sockets);
	web_config_free(c->config);
	free(c);
	w->collector = NULL;
}
