/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "cudaexporter/web_cert.h"
#include "cudaexporter/web_collector.h"

static const unsigned long long SECOND = 1000000000ull, LIVED = 5000000000ull, QUIET = 60000000000ull;
static const unsigned long long SILENT = 10 * 1000000000ull;	/* a server that is stopped, or hangs */

static void forget(struct web_file *f)
{
	if (f->text)
		explicit_bzero(f->text, f->size);
	free(f->text);
	f->text = NULL;
}

static void describe(const struct web_config *g, struct web_bundle *b)
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

int web_collector_pack(struct web_collector *c)
{
	struct web_bundle b = { .path = c->options.path, .max_requests = c->options.max_requests, .asks = c->config };
	int fd;

	memcpy(b.secret, c->secret, sizeof(b.secret));
	if (c->config)
		describe(c->config, &b);
	fd = web_fd_high(web_bundle_write(&b));
	if (fd < 0)
		return errno;
	if (c->bundle >= 0)
		close(c->bundle);
	c->bundle = fd;
	if (c->config)
		served(c, c->config);
	return 0;
}

/* Those that leave have places; if there is none, the first has had its time. */
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

int web_collector_start(struct web_collector *c)
{
	struct epoll_event readable = { .events = EPOLLIN };
	int err = web_process_start(&c->server, c->bundle, c->listen, c->nlisten);

	/* closing it takes it out again; without it, the server waits for the next tick */
	if (!err && epoll_ctl(c->sockets, EPOLL_CTL_ADD, c->server.socket, &readable))
		warning(errno, "cannot wait for the web server");
	return err;
}

static void start(struct web_collector *c)
{
	int err = web_collector_start(c);

	if (err)
		warning(err, "cannot start the web server");
	c->next_start = clock_ns() + c->delay;
}

/* How much a client must show: nothing, a certificate, or one of the CA. */
static int rank(enum web_client_auth a)
{
	return a == WEB_CLIENT_VERIFY ? 2 : a == WEB_CLIENT_ANY;
}

/* A config that lost what protected it is a mistake, or half written. */
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
		g->error = xprintf("%s:1: %s is gone: that needs a restart", g->file.path, lost);
}

static void refuse(struct web_collector *c)
{
	struct web_message m = { .type = WEB_ACCEPT };

	warning(0, "%s; connections are refused until this is right", c->config->error);
	if (c->server.pid)
		web_message_send(c->server.socket, &m, -1);
}

bool web_collector_look(struct web_collector *c)
{
	int err;

	if (!c->config || !web_config_changed(c->config))
		return !c->config || !c->config->error;
	web_config_free(c->config);
	c->config = web_config_read(c->options.config_file);
	refuse_less(c, c->config);
	err = c->config->error ? 0 : web_collector_pack(c);
	if (err)
		c->config->error = xprintf("%s: no memory file for it: %s", c->options.config_file, strerror(err));
	if (c->config->error) {
		refuse(c);
		return false;
	}
	note("the web config has changed: '%s' is served now", c->options.config_file);
	let_leave(c);
	start(c);
	return true;
}

static void end(struct web_collector *c, struct web_process *p, bool silent)
{
	unsigned long long now = clock_ns();
	bool serves = p == &c->server, say = serves && (!c->said || now - c->said > QUIET);

	c->delay = now - p->began > LIVED ? SECOND : c->delay < QUIET / 2 ? c->delay * 2 : QUIET;
	if (say && silent)
		warning(0, "the web server does not answer: it is killed and started again");
	web_killed_add(c->killed, p, say && !silent);
	if (say)
		c->said = now;
	if (serves && c->next_start < now)
		c->next_start = c->delay > SECOND ? now + c->delay : now;
}

void web_collector_ended(struct web_collector *c, struct web_process *p)
{
	end(c, p, false);
}

static void ask_alive(struct web_collector *c, unsigned long long now)
{
	const struct web_message m = { .type = WEB_ALIVE };
	unsigned long long paused = now - c->kept;
	struct web_process *p = &c->server;

	c->kept = now;
	if (!p->pid)
		return;
	/* when the collector did not run, the server may not have run either */
	if (p->asked && paused > SECOND)
		p->asked += paused;
	if (p->asked && now - p->asked > SILENT) {
		end(c, p, true);
	} else if (!p->asked && now - p->heard > SECOND) {
		web_message_send(p->socket, &m, -1);
		p->asked = now;
	}
}

void web_collector_keep(struct web_collector *c)
{
	unsigned long long now = clock_ns();

	web_killed_reap(c->killed);
	ask_alive(c, now);
	if (!c->server.pid && now >= c->next_start)
		start(c);
	for (int i = 0; i < WEB_LEAVING; i++)
		if (web_process_overdue(&c->leaving[i]))
			web_killed_add(c->killed, &c->leaving[i], false);
	if (now >= c->next_look) {
		web_collector_look(c);
		c->next_look = now + SECOND;
	}
}
