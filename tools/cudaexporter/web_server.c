/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <gnutls/gnutls.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "cudaexporter/web_confine.h"
#include "cudaexporter/web_http.h"
#include "cudaexporter/web_message.h"
#include "cudaexporter/web_server.h"
#include "cudaexporter/web_state.h"

enum { TICK = 100, FULL_TICK = 20 /* milliseconds */ };
static const unsigned long long LOST = 5000000000ull;	/* a question without an answer */

static void accept_all(struct web_server *s, bool refuse)
{
	for (int i = 0; i < s->nlisten; i++)
		s->full |= !web_http_accept(s, WEB_FD_LISTEN + i, refuse);
	s->connections.wanted = s->full;
	s->connections.closing = refuse;
	if (refuse)
		web_connections_shut_idle(&s->connections);
}

/* A connection waits: nobody is let in before the collector has looked at the config. */
static void on_connection(struct web_server *s)
{
	struct web_message m = { .type = WEB_ASK_ACCEPT };

	if (!s->bundle.asks) {
		accept_all(s, false);
		return;
	}
	m.id = web_ask_id(&s->ask);
	if (!web_message_send(s->ask.socket, &m, -1))
		return;
	s->asking = m.id;
	s->asked = clock_ns();
}

static void on_message(struct web_server *s, const struct web_message *m, int fd)
{
	switch (m->type) {
	case WEB_ACCEPT:
		if (m->id == s->asking)
			s->asking = 0;
		else if (m->id)
			break;
		if (!s->leaving && (m->id || !m->ok))
			accept_all(s, !m->ok);
		break;
	case WEB_ALIVE:
		web_message_send(s->ask.socket, &(struct web_message){ .type = WEB_ALIVE }, -1);
		break;
	case WEB_LEAVE:
		s->leaving = true;
		s->connections.closing = true;
		web_connections_shut_idle(&s->connections);
		break;
	default:
		web_ask_answer(&s->ask, m, fd);
		return;
	}
	if (fd >= 0)
		close(fd);
}

static void read_messages(struct web_server *s)
{
	struct web_message m;
	int fd, got;

	while ((got = web_message_receive(s->ask.socket, &m, &fd)) > 0)
		on_message(s, &m, fd);
	if (got < 0)
		_exit(EXIT_SUCCESS);	/* the collector has ended */
}

static void serve(struct web_server *s)
{
	struct pollfd p[1 + WEB_LISTEN_MAX] = { { .fd = s->ask.socket, .events = POLLIN } };
	int n = web_connections_expire(&s->connections);
	bool full = s->full, there = false, closed;

	s->full = false;
	if (s->asking && clock_ns() - s->asked > LOST)
		s->asking = 0;
	closed = full || s->asking || s->leaving;
	if (s->leaving && !n)
		_exit(EXIT_SUCCESS);
	for (int i = 0; i < s->nlisten; i++)
		p[1 + i] = (struct pollfd){ .fd = WEB_FD_LISTEN + i, .events = POLLIN };
	if (poll(p, closed ? 1 : 1 + s->nlisten, full ? FULL_TICK : n || s->leaving || s->asking ? TICK : -1) <= 0)
		return;
	if (p[0].revents)
		read_messages(s);
	for (int i = 0; !closed && i < s->nlisten; i++) {
		if (p[1 + i].revents & ~POLLIN)
			_exit(EXIT_FAILURE);	/* nothing will come from it any more, and poll() would return at once */
		there |= p[1 + i].revents;
	}
	if (there)
		on_connection(s);
}

/* The collector says when to end; a terminal's signals come to both. */
static void ignore_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

/* All that the C library and GnuTLS open at their first use. */
static void open_all(struct web_server *s)
{
	time_t now = time(NULL);
	struct tm tm;

	mallopt(M_ARENA_MAX, 1);	/* others read the kernel's settings when they shrink */
	gmtime_r(&now, &tm);
	if (gnutls_global_init() < 0)
		die(0, "cannot initialize GnuTLS");
	web_auth_init(&s->auth, s->bundle.users, s->bundle.nusers);
	web_http_start(s);
}

/* What reads from strangers writes nothing where the collector's messages are read. */
static void be_silent(void)
{
#ifndef __SANITIZE_ADDRESS__	/* its report is for those who test */
	if (dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
		_exit(EXIT_FAILURE);
#endif
}

void web_server_run(int nlisten)
{
	struct web_server *s = xcalloc(1, sizeof(*s));

	if (close_range(WEB_FD_LISTEN + nlisten, ~0u, 0))
		die(errno, "cannot close what the server is not to have");
	ignore_signals();
	web_confine_rights();
	if (!web_bundle_read(WEB_FD_BUNDLE, &s->bundle))
		die(errno, "the server cannot read its configuration");
	close(WEB_FD_BUNDLE);
	s->nlisten = nlisten;
	web_ask_init(&s->ask, WEB_FD_SOCKET);
	pthread_mutex_init(&s->connections.lock, NULL);
	pthread_mutex_init(&s->scrapes_lock, NULL);
	open_all(s);
	web_confine_calls();
	be_silent();
	for (;;)
		serve(s);
}
