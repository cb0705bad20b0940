/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/die.h"
#include "cli/sink.h"

enum { FULL = 1024 * 1024 };

static int to, error;
static char *kept;
static size_t nkept, room;

/* Reopens a pipe or a terminal as non-blocking, since others may share the open file description.
 * Regular files never block. */
static int without_waiting(int fd)
{
	int flags = fcntl(fd, F_GETFL), own = -1;
	char name[32];
	struct stat st;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && !fstat(fd, &st) &&
	    (S_ISFIFO(st.st_mode) || isatty(fd)))
		own = open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return own < 0 ? fd : own;
}

/* Returns the number of bytes written. */
static size_t offer(const char *data, size_t size)
{
	size_t taken = 0;

	while (taken < size && !error) {
		ssize_t n = write(to, data + taken, size - taken);

		if (n >= 0)
			taken += n;
		else if (errno == EAGAIN)
			break;
		else if (errno != EINTR)
			error = errno;
	}
	return taken;
}

static ssize_t on_write(void *cookie, const char *data, size_t size)
{
	size_t taken = sink_write() || nkept ? 0 : offer(data, size);

	(void)cookie;
	if (error || taken == size)
		return size;
	if (nkept + size - taken > room) {
		room = 2 * (nkept + size - taken);
		kept = xrealloc(kept, room, 1);
	}
	memcpy(kept + nkept, data + taken, size - taken);
	nkept += size - taken;
	return size;
}

FILE *sink_open(int fd)
{
	FILE *f = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = on_write });

	if (!f)
		die(errno, "cannot open a stream");
	to = without_waiting(fd);
	return f;
}

int sink_write(void)
{
	size_t taken = nkept ? offer(kept, nkept) : 0;

	nkept = error ? 0 : nkept - taken;
	if (taken && nkept)
		memmove(kept, kept + taken, nkept);
	return error;
}

bool sink_is_full(void)
{
	return nkept > FULL;
}

size_t sink_finish(void)
{
	struct pollfd ready = { .fd = to, .events = POLLOUT };

	while (!sink_write() && nkept && poll(&ready, 1, -1) > 0)
		;
	return nkept;
}
