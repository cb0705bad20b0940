/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/die.h"
#include "cli/opt.h"
#include "cudaexporter/web_listen.h"

enum { BACKLOG = 128, FIRST_FD = 64 };

static bool is_port(const char *s)
{
	size_t n = strspn(s, "0123456789");

	return n && n <= 5 && !s[n] && atol(s) <= 65535;
}

const char *web_address_parse(const char *s, struct web_address *a)
{
	const char *colon = strrchr(s, ':'), *host = s, *end = colon;

	if (!colon || !is_port(colon + 1))
		return "it does not end in a colon and a port";
	if (*s == '[') {
		host = s + 1;
		end = colon > s && colon[-1] == ']' ? colon - 1 : host;
		if (end <= host)
			return "an IPv6 address stands in square brackets";
	} else if (memchr(s, ':', colon - s)) {
		return "an IPv6 address stands in square brackets";
	}
	if ((size_t)(end - host) >= sizeof(a->host))
		return "the host's name is too long";
	snprintf(a->host, sizeof(a->host), "%.*s", (int)(end - host), host);
	snprintf(a->port, sizeof(a->port), "%s", colon + 1);
	return NULL;
}

/* Returns -1 with errno set.  Without a host, an IPv6 socket serves IPv4, too. */
static int bound(const struct addrinfo *i, bool all)
{
	int fd = socket(i->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1, err;
	int v6only = !all;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (i->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof(v6only));
	if (!bind(fd, i->ai_addr, i->ai_addrlen) && !listen(fd, BACKLOG)) {
		int high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);

		err = errno;
		close(fd);
		errno = err;
		return high;
	}
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

/* Of a name with several addresses, the first that can be bound; of all addresses, IPv6's. */
static int bound_to_any(const struct addrinfo *list, bool all)
{
	int fd = -1;

	for (int pass = 0; pass < 2 && fd < 0; pass++)
		for (const struct addrinfo *i = list; i && fd < 0; i = i->ai_next)
			if (!all || (i->ai_family == AF_INET6) == !pass)
				fd = bound(i, all);
	return fd;
}

int web_listen(const char *address)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct web_address a;
	struct addrinfo *list;
	const char *wrong = web_address_parse(address, &a);
	int fd, err;

	if (wrong)
		usage_error("--web.listen-address: '%s' is not an address such as 127.0.0.1:10950, :10950 or "
			    "[::1]:10950: %s", address, wrong);
	err = getaddrinfo(*a.host ? a.host : NULL, a.port, &hints, &list);
	if (err)
		die(0, "cannot find the address of '%s': %s", address,
		    err == EAI_SYSTEM ? strerror(errno) : gai_strerror(err));
	fd = bound_to_any(list, !*a.host);
	if (fd < 0)
		die(errno, "cannot listen on '%s' (--web.listen-address names another)", address);
	freeaddrinfo(list);
	return fd;
}

void web_listen_name(int fd, char *text, size_t size)
{
	struct sockaddr_storage at;
	socklen_t length = sizeof(at);
	char host[INET6_ADDRSTRLEN], port[8];

	if (getsockname(fd, (struct sockaddr *)&at, &length) ||
	    getnameinfo((struct sockaddr *)&at, length, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(text, size, "?");
	else
		snprintf(text, size, at.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}
