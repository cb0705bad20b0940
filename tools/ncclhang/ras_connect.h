/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The way to the RAS of a process: for the helper process of ras.c. */
#ifndef NCCLHANG_RAS_CONNECT_H
#define NCCLHANG_RAS_CONNECT_H
#include <stdbool.h>
#include <sys/socket.h>

enum { RAS_ADDRESS_SIZE = 128 };

/* "localhost" may be either: getaddrinfo() in NCCL takes its first. */
struct ras_endpoints {
	struct sockaddr_storage at[2];
	int n;
};

/* Gets the address of a process's RAS by the environment that it was started with. */
void ras_find_address(int pid, char address[RAS_ADDRESS_SIZE]);

/* Parses "localhost:PORT", "IPv4:PORT" or "[IPv6]:PORT".  Return false if it is something else. */
bool ras_parse_address(const char *address, struct ras_endpoints *e);

/* Enters the process's network namespace, if it has another one.  Returns 0 or errno. */
int ras_enter(int pid);

/* Connects to the first endpoint that takes it, until end, in ns of clock_ns(), but not longer than two seconds.  Returns a
 * socket that does not block, or -errno: -EADDRNOTAVAIL if this host has no such address. */
int ras_connect(const struct ras_endpoints *e, unsigned long long end);

/* Waits for poll()'s events until end.  Return false if that is over. */
bool ras_wait(int fd, short events, unsigned long long end);

#endif
