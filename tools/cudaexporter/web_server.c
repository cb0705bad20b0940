/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <linux/sched.h>
#include <malloc.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "cudaexporter/web_connections.h"
#include "cudaexporter/web_page.h"
#include "cudaexporter/web_server.h"
#include "proc/confine.h"

enum { FILES = 64 };

static void limit(int resource, rlim_t n)
{
	struct rlimit to = { n, n };

	if (setrlimit(resource, &to))
		die(errno, "cannot set the server's resource limits");
}

void web_confine_rights(void)
{
	const char *cannot = confine_rights();

	if (cannot)
		die(errno, "the server cannot %s", cannot);
	limit(RLIMIT_NOFILE, FILES);
#ifndef __SANITIZE_ADDRESS__	/* which maps terabytes */
	limit(RLIMIT_AS, 2ull << 30);	/* includes thread stacks and all pages being sent */
#endif
}

/* Without conditions.  None of these opens a file, connects, signals another process or executes.  Threads are made by
 * clone: clone3, whose flags a filter cannot read, fails with ENOSYS. */
static const int allowed[] = {
	SCMP_SYS(accept4), SCMP_SYS(getsockname), SCMP_SYS(getpeername), SCMP_SYS(getsockopt),
	SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(shutdown),
	SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(sendfile),
	SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(poll), SCMP_SYS(ppoll),
	SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
	SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity), SCMP_SYS(sigaltstack), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group),
	SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getrandom), SCMP_SYS(getrusage),
	SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(nanosleep),
	SCMP_SYS(clock_nanosleep),
};

/* For optional reads of the C library, such as /proc/sys/vm/overcommit_memory. */
static const int refused[] = {
	SCMP_SYS(openat), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
	SCMP_SYS(sysinfo), SCMP_SYS(uname), SCMP_SYS(prlimit64),
};

/* F_SETOWN and O_ASYNC could make the kernel signal another process. */
static int descriptor_flags(scmp_filter_ctx filter)
{
	static const int commands[] = { F_GETFD, F_SETFD, F_GETFL };
	int err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 2, SCMP_A1(SCMP_CMP_EQ, F_SETFL, 0),
				   SCMP_A2(SCMP_CMP_MASKED_EQ, O_ASYNC, 0));

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ, commands[i], 0));
	return err;
}

/* SO_LINGER could block another process that closes the socket. */
static int socket_options(scmp_filter_ctx filter)
{
	static const int names[] = { TCP_NODELAY, TCP_CORK };
	int err = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(setsockopt), 2,
					SCMP_A1(SCMP_CMP_EQ, IPPROTO_TCP, 0), SCMP_A2(SCMP_CMP_EQ, names[i], 0));
	return err;
}

/* MSG_FASTOPEN connects.  sendmsg() can pass descriptors, so it is denied on the collector's socket: allowed descriptors, 4
 * to 63, have one of the bits from 4 to 32. */
static int sending(scmp_filter_ctx filter)
{
	int err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sendto), 1,
				   SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0));

	_Static_assert(WEB_FD_SOCKET < 4 && FILES == 64, "the bits are those from 4 to 32");
	for (scmp_datum_t bit = 4; bit < FILES; bit *= 2)
		err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sendmsg), 2,
					SCMP_A0(SCMP_CMP_MASKED_EQ, ~(scmp_datum_t)(FILES - 1) | bit, bit),
					SCMP_A2(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0));
	return err;
}

static int conditions(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp no_exec = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
	int err = 0;

	err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_exec);
	err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_exec);
	err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
				SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
	err |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1, SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME, 0));
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		err |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), refused[i], 0);
	/* for be_silent() */
	err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(dup2), 2, SCMP_A0(SCMP_CMP_EQ, STDOUT_FILENO, 0),
				SCMP_A1(SCMP_CMP_EQ, STDERR_FILENO, 0));
	err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(dup3), 3, SCMP_A0(SCMP_CMP_EQ, STDOUT_FILENO, 0),
				SCMP_A1(SCMP_CMP_EQ, STDERR_FILENO, 0), SCMP_A2(SCMP_CMP_EQ, 0, 0));
	/* abort() */
	err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, SCMP_A0(SCMP_CMP_EQ, getpid(), 0));
	return err | descriptor_flags(filter) | socket_options(filter) | sending(filter);
}

void web_confine_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int err = filter ? 0 : -ENOMEM;

	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	if (!err)
		err = conditions(filter) ? -EINVAL : 0;
	if (!err)
		err = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (!err)
		err = seccomp_load(filter);
	if (err)
		die(err, "cannot confine the server by seccomp (CONFIG_SECCOMP_FILTER)");
	seccomp_release(filter);
}

enum {
	AT_ONCE = 16,
	IDLE = 10,			/* seconds without any byte; see also web_connections_expire() */
	STACK = 1 << 20,		/* bytes, instead of the collector's limit */
	MEMORY = 10 * 1024,		/* bytes for a request's line and headers, and MHD's data about them */
};

/* Called in the handshake, also without a certificate: GNUTLS_CERT_REQUIRE decides whether that is an error. */
static int verify(gnutls_session_t tls)
{
	gnutls_typed_vdata_st purpose = { .type = GNUTLS_DT_KEY_PURPOSE_OID,
					  .data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT };
	unsigned n = 0, faults;

	if (!gnutls_certificate_get_peers(tls, &n) || !n)
		return 0;
	return gnutls_certificate_verify_peers(tls, &purpose, 1, &faults) || faults ? GNUTLS_E_CERTIFICATE_ERROR : 0;
}

/* Requires a client's certificate as Go's crypto/tls does: the handshake fails without it.  MHD would only request one, and
 * only with a CA. */
static void ask_certificate(const struct web_server *s, gnutls_session_t tls)
{
	bool must = s->config.client_auth == WEB_CLIENT_ANY || s->config.client_auth == WEB_CLIENT_VERIFY;

	if (s->config.client_auth == WEB_CLIENT_NONE)
		return;
	gnutls_certificate_server_set_request(tls, must ? GNUTLS_CERT_REQUIRE : GNUTLS_CERT_REQUEST);
	if (s->config.client_auth >= WEB_CLIENT_VERIFY_GIVEN)
		gnutls_session_set_verify_function(tls, verify);
}

static void on_connection(void *ctx, struct MHD_Connection *c, void **context, enum MHD_ConnectionNotificationCode what)
{
	struct web_server *s = ctx;
	int fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	const union MHD_ConnectionInfo *tls;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		web_connections_remove(&s->connections, fd);
		return;
	}
	*context = web_connections_find(&s->connections, fd);
	tls = s->config.priority ? MHD_get_connection_info(c, MHD_CONNECTION_INFO_GNUTLS_SESSION) : NULL;
	if (tls && tls->tls_session)
		ask_certificate(s, tls->tls_session);
	else if (s->config.priority)
		shutdown(fd, SHUT_RDWR);	/* never serve without the check */
}

static void on_completed(void *ctx, struct MHD_Connection *c, void **request, enum MHD_RequestTerminationCode how)
{
	struct web_server *s = ctx;

	(void)how;
	*request = NULL;
	web_connection_phase(&s->connections,
			     MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context,
			     WEB_WAITS_FOR);
}

/* Reports errors of the start only, not those of clients. */
static void on_log(void *ctx, const char *fmt, va_list ap)
{
	struct web_server *s = ctx;
	char text[256];

	if (s->http)
		return;
	vsnprintf(text, sizeof(text), fmt, ap);
	text[strcspn(text, "\n")] = '\0';
	warning(0, "%s", text);
}

static int tls_options(const struct web_server_config *b, struct MHD_OptionItem *o)
{
	int n = 0;

	if (b->priority) {
		o[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)b->cert };
		o[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)b->key };
		o[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)b->priority };
		if (b->ca)
			o[n++] = (struct MHD_OptionItem){ MHD_OPTION_HTTPS_MEM_TRUST, 0, (void *)b->ca };
	}
	o[n++] = (struct MHD_OptionItem){ MHD_OPTION_END, 0, NULL };
	return n;
}

/* Starts libmicrohttpd with a thread per connection; it opens its files now.  Dies on failure. */
static void web_http_start(struct web_server *s)
{
	unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
			 MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC | MHD_USE_ERROR_LOG;
	struct MHD_OptionItem tls[5];

	tls_options(&s->config, tls);
	if (s->config.priority)
		flags |= MHD_USE_TLS;
	s->http = MHD_start_daemon(flags, 0, NULL, NULL, web_page, s,
				   MHD_OPTION_EXTERNAL_LOGGER, on_log, s,
				   MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
				   MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
				   MHD_OPTION_CONNECTION_LIMIT, (unsigned)WEB_SLOTS,
				   MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE,
				   MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK,
				   MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY,
				   MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
	if (!s->http)
		die(0, "cannot start libmicrohttpd%s",
		    s->config.priority && !MHD_is_feature_supported(MHD_FEATURE_TLS) ? ": it has no TLS" : "");
}

/* Accepts up to 16 connections from a listening socket while there is room; refuse: closes them instead.  Returns false if
 * there was no room or no free descriptor. */
static bool web_http_accept(struct web_server *s, int listener, bool refuse)
{
	struct sockaddr_storage peer;
	socklen_t length;
	struct pollfd waits = { .fd = listener, .events = POLLIN };
	int fd;

	for (int i = 0; i < AT_ONCE; i++) {
		if (poll(&waits, 1, 0) <= 0)
			return true;
		if (!refuse && !web_connections_room(&s->connections))
			return false;
		length = sizeof(peer);
		fd = accept4(listener, (struct sockaddr *)&peer, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0)
			return errno != EMFILE && errno != ENFILE;	/* out of descriptors: retry later */
		if (refuse) {
			close(fd);
			continue;
		}
		web_connections_add(&s->connections, fd);
		if (MHD_add_connection(s->http, fd, (struct sockaddr *)&peer, length) != MHD_YES)
			web_connections_remove(&s->connections, fd);
	}
	return true;
}

enum { TICK = 100, FULL_TICK = 20 /* milliseconds */ };
static const unsigned long long LOST = 5000000000ull;	/* when an unanswered request is given up */

static void accept_all(struct web_server *s, bool refuse)
{
	for (int i = 0; i < s->nlisten; i++)
		s->full |= !web_http_accept(s, WEB_FD_LISTEN + i, refuse);
	s->connections.wanted = s->full;
	s->connections.closing = refuse;
	if (refuse)
		web_connections_shut_idle(&s->connections);
}

/* A connection waits.  With a config file, the collector must check it for changes before the connection is accepted. */
static void on_waiting(struct web_server *s)
{
	struct web_message m = { .type = WEB_ASK_ACCEPT };

	if (!s->config.asks) {
		accept_all(s, false);
		return;
	}
	m.id = web_rpc_id(&s->rpc);
	if (!web_message_send(s->rpc.socket, &m, -1))
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
		web_message_send(s->rpc.socket, &(struct web_message){ .type = WEB_ALIVE }, -1);
		break;
	case WEB_LEAVE:
		s->leaving = true;
		s->connections.closing = true;
		web_connections_shut_idle(&s->connections);
		break;
	default:
		web_rpc_answer(&s->rpc, m, fd);
		return;
	}
	if (fd >= 0)
		close(fd);
}

static void read_messages(struct web_server *s)
{
	struct web_message m;
	int fd, got;

	while ((got = web_message_receive(s->rpc.socket, &m, &fd)) > 0)
		on_message(s, &m, fd);
	if (got < 0)
		_exit(EXIT_SUCCESS);	/* the collector has ended */
}

static void web_server_serve(struct web_server *s)
{
	struct pollfd p[1 + WEB_LISTEN_MAX] = { { .fd = s->rpc.socket, .events = POLLIN } };
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
			_exit(EXIT_FAILURE);	/* an error that stays: poll() would never wait again */
		there |= p[1 + i].revents;
	}
	if (there)
		on_waiting(s);
}

/* The collector ends the server; a terminal's signals reach both. */
static void ignore_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

/* Before files are forbidden: the C library and GnuTLS open some at their first use. */
static void open_all(struct web_server *s)
{
	time_t now = time(NULL);
	struct tm tm;

	mallopt(M_ARENA_MAX, 1);	/* further arenas read the kernel's settings when they shrink */
	gmtime_r(&now, &tm);
	if (gnutls_global_init() < 0)
		die(0, "cannot initialize GnuTLS");
	web_auth_init(&s->auth, s->config.users, s->config.nusers);
	web_http_start(s);
}

/* Nothing that clients send must reach the collector's messages. */
static void be_silent(void)
{
#ifndef __SANITIZE_ADDRESS__	/* tests read its report */
	if (dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
		_exit(EXIT_FAILURE);
#endif
}

void web_server_run(int nlisten)
{
	struct web_server *s = xcalloc(1, sizeof(*s));

	if (close_range(WEB_FD_LISTEN + nlisten, ~0u, 0))
		die(errno, "cannot close inherited descriptors");
	ignore_signals();
	web_confine_rights();
	if (!web_config_fd_read(WEB_FD_CONFIG, &s->config))
		die(errno, "the server cannot read its configuration");
	close(WEB_FD_CONFIG);
	s->nlisten = nlisten;
	web_rpc_init(&s->rpc, WEB_FD_SOCKET);
	pthread_mutex_init(&s->connections.lock, NULL);
	pthread_mutex_init(&s->scrapes_lock, NULL);
	open_all(s);
	web_confine_calls();
	be_silent();
	for (;;)
		web_server_serve(s);
}
