/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "ncclhang/ras_connect.h"
#include "proc/living.h"

enum { MS = 1000000 /* in ns */, CONNECT_MS = 2000, ENVIRON_MAX = 4 << 20 };

#define DEFAULT_ADDRESS "localhost:28028"
#define VARIABLE "NCCL_RAS_ADDR="

void ras_find_address(int pid, char address[RAS_ADDRESS_SIZE])
{
	char name[32], *text = xcalloc(1, ENVIRON_MAX + 1);
	size_t size = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/environ", proc_living(pid));
	snprintf(address, RAS_ADDRESS_SIZE, "%s", DEFAULT_ADDRESS);
	f = fopen(name, "re");
	if (f) {
		size = fread(text, 1, ENVIRON_MAX, f);
		fclose(f);
	}
	for (char *at = text; at < text + size; at += strlen(at) + 1)
		if (!strncmp(at, VARIABLE, strlen(VARIABLE))) {
			snprintf(address, RAS_ADDRESS_SIZE, "%s", at + strlen(VARIABLE));
			break;
		}
	free(text);
}

static bool add_endpoint(struct ras_endpoints *e, const char *host, bool six, unsigned short port)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&e->at[e->n];
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&e->at[e->n];

	if (inet_pton(six ? AF_INET6 : AF_INET, host, six ? (void *)&in6->sin6_addr : (void *)&in->sin_addr) != 1)
		return false;
	if (six) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
	} else {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
	}
	e->n++;
	return true;
}

/* No name but localhost is resolved: that would ask servers of the process's choice. */
bool ras_parse_address(const char *address, struct ras_endpoints *e)
{
	bool six = *address == '[';
	char host[INET6_ADDRSTRLEN];
	const char *end, *port;
	unsigned long number;

	address += six;
	end = six ? strchr(address, ']') : strchr(address, ':');
	if (!end || end - address >= (long)sizeof(host))
		return false;
	snprintf(host, sizeof(host), "%.*s", (int)(end - address), address);
	port = end + 1 + six;
	if ((six && end[1] != ':') || !*port || strspn(port, "0123456789") != strlen(port) || strlen(port) > 5)
		return false;
	number = strtoul(port, NULL, 10);
	if (!number || number > USHRT_MAX)
		return false;
	if (!six && !strcmp(host, "localhost"))
		return add_endpoint(e, "127.0.0.1", false, number) && add_endpoint(e, "::1", true, number);
	return add_endpoint(e, host, six, number);
}

int ras_enter(int pid)
{
	struct stat own, its;
	char name[32];
	int fd, err = 0;

	snprintf(name, sizeof(name), "/proc/%d/ns/net", proc_living(pid));
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (fstat(fd, &its))
		err = errno;
	else if ((stat("/proc/self/ns/net", &own) || own.st_dev != its.st_dev || own.st_ino != its.st_ino) &&
		 setns(fd, CLONE_NEWNET))
		err = errno;
	close(fd);
	return err;
}

bool ras_wait(int fd, short events, unsigned long long end)
{
	struct pollfd p = { .fd = fd, .events = events };
	int n;

	do {
		unsigned long long now = clock_ns();

		n = now < end ? poll(&p, 1, (end - now) / MS + 1) : 0;
	} while (n < 0 && errno == EINTR);
	return n > 0;
}

/* Returns a connected socket, or -errno.  Binding it to the address of the other side fails if that is no address of this
 * host: then nothing is sent. */
static int connect_to(const struct sockaddr_storage *at, unsigned long long end)
{
	socklen_t size = at->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in), n = sizeof(int);
	int fd = socket(at->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err = 0;
	struct sockaddr_storage from = *at;

	if (fd < 0)
		return -errno;
	/* the port is at the same place in both */
	((struct sockaddr_in *)&from)->sin_port = 0;
	if (bind(fd, (struct sockaddr *)&from, size) || (connect(fd, (struct sockaddr *)at, size) && errno != EINPROGRESS))
		err = errno;
	else if (!ras_wait(fd, POLLOUT, end))
		err = ETIMEDOUT;
	else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &n))
		err = errno;
	if (!err)
		return fd;
	close(fd);
	return -err;
}

int ras_connect(const struct ras_endpoints *e, unsigned long long end)
{
	unsigned long long last = clock_ns() + CONNECT_MS * (unsigned long long)MS;
	int fd = -EADDRNOTAVAIL;

	if (end > last)
		end = last;
	for (int i = 0; i < e->n && fd < 0; i++) {
		int one = connect_to(&e->at[i], end);

		if (!i || one >= 0)	/* the first one's error: a host may have no IPv6 */
			fd = one;
	}
	return fd;
}
