/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/die.h"
#include "cudaexporter/web_http.h"
#include "cudaexporter/web_page.h"

enum {
	AT_ONCE = 16,
	IDLE = 10,			/* seconds; web_connections_expire() bounds what trickles */
	STACK = 1 << 20,		/* bytes, whatever the collector's limit is */
	MEMORY = 10 * 1024,		/* bytes for a request's line and headers, and what MHD notes of them */
};

/* Called in the handshake, also if there is no certificate: then it is another's decision whether that is well. */
static int verify(gnutls_session_t tls)
{
	gnutls_typed_vdata_st purpose = { .type = GNUTLS_DT_KEY_PURPOSE_OID,
					  .data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT };
	unsigned n = 0, faults;

	if (!gnutls_certificate_get_peers(tls, &n) || !n)
		return 0;
	return gnutls_certificate_verify_peers(tls, &purpose, 1, &faults) || faults ? GNUTLS_E_CERTIFICATE_ERROR : 0;
}

/* A client's certificate as Go's crypto/tls asks for it: the handshake fails without.  MHD itself would only ask,
 * and only if there is a CA. */
static void ask_certificate(const struct web_server *s, gnutls_session_t tls)
{
	bool must = s->bundle.client_auth == WEB_CLIENT_ANY || s->bundle.client_auth == WEB_CLIENT_VERIFY;

	if (s->bundle.client_auth == WEB_CLIENT_NONE)
		return;
	gnutls_certificate_server_set_request(tls, must ? GNUTLS_CERT_REQUIRE : GNUTLS_CERT_REQUEST);
	if (s->bundle.client_auth >= WEB_CLIENT_VERIFY_GIVEN)
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
	tls = s->bundle.priority ? MHD_get_connection_info(c, MHD_CONNECTION_INFO_GNUTLS_SESSION) : NULL;
	if (tls && tls->tls_session)
		ask_certificate(s, tls->tls_session);
	else if (s->bundle.priority)
		shutdown(fd, SHUT_RDWR);	/* never without the check */
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

/* What clients do wrong is no news; that the start failed is. */
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

static int tls_options(const struct web_bundle *b, struct MHD_OptionItem *o)
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

void web_http_start(struct web_server *s)
{
	unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
			 MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC | MHD_USE_ERROR_LOG;
	struct MHD_OptionItem tls[5];

	tls_options(&s->bundle, tls);
	if (s->bundle.priority)
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
		    s->bundle.priority && !MHD_is_feature_supported(MHD_FEATURE_TLS) ? ": it has no TLS" : "");
}

bool web_http_accept(struct web_server *s, int listener, bool refuse)
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
			return errno != EMFILE && errno != ENFILE;	/* the machine's: later, not at once again */
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
