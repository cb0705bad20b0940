/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "bpf/bpf_mmap.h"
#include "base/clock.h"
#include "base/die.h"
#include "proc/helper.h"

enum { TICK_MS = 10, NS_PER_MS = 1000000 };

/* How long the rest of an answer may take that has begun: the helper has all of it in its memory, unless it was taken over. */
static const unsigned long long REST_NS = 5000000000ull;

bool helper_start(struct helper *h)
{
	const struct timeval second = { 1, 0 };
	int sockets[2];

	if (h->pid)
		return true;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return false;
	bpf_mmap_not_in_children();
	h->pid = fork();
	if (!h->pid)
		helper_serve(sockets[1], h->keep, h->memory, h->not_killed);
	close(sockets[1]);
	h->socket = sockets[0];
	setsockopt(h->socket, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
	if (h->pid > 0)
		return true;
	close(sockets[0]);
	h->pid = 0;
	return false;
}

bool helper_send(struct helper *h, helper_fn *fn, const void *in, size_t size, int fd)
{
	const struct helper_head head = { .fn = fn, .size = size };

	if (!helper_start(h))
		return false;
	h->waiting = true;
	return helper_write(h->socket, &head, in, fd);
}

/* Return true if there is something to read. */
static int wait_readable(struct helper *h, unsigned long long end)
{
	struct pollfd fd = { .fd = h->socket, .events = POLLIN };

	for (;;) {
		unsigned long long now = clock_ns();
		long ms = now < end ? (end - now) / NS_PER_MS + 1 : 0;
		int n = poll(&fd, 1, ms < TICK_MS ? ms : TICK_MS);

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (h->idle && !h->idle(h->ctx))
			return -ECANCELED;
		if (!ms)
			return -ETIME;
	}
}

static int read_rest(struct helper *h, struct helper_answer *a)
{
	unsigned long long end = clock_ns() + REST_NS;
	size_t got = 0;
	ssize_t n;

	while (got < a->size) {
		n = read(h->socket, a->bytes + got, a->size - got);
		if (!n || (n < 0 && errno != EINTR && errno != EAGAIN) || clock_ns() > end)
			return -EPIPE;
		got += n > 0 ? n : 0;
	}
	return 0;
}

int helper_receive(struct helper *h, long ms, struct helper_answer *a)
{
	int err = wait_readable(h, clock_ns() + ms * NS_PER_MS);
	struct helper_head head;

	*a = (struct helper_answer){ .fd = -1 };
	if (err)
		return err;
	h->waiting = false;
	if (!helper_read(h->socket, &head, &a->fd))
		return -EPIPE;
	if (h->memory && head.size > h->memory) {	/* more than it can have */
		if (a->fd >= 0)
			close(a->fd);
		a->fd = -1;
		return -EPIPE;
	}
	a->size = head.size;
	a->bytes = xcalloc(1, a->size + 1);
	err = read_rest(h, a);
	if (err)
		helper_drop(a);
	return err;
}

void helper_drop(struct helper_answer *a)
{
	free(a->bytes);
	if (a->fd >= 0)
		close(a->fd);
	*a = (struct helper_answer){ .fd = -1 };
}

int helper_leave(struct helper *h)
{
	int pid = h->pid;

	if (!pid)
		return 0;
	if (h->waiting && !h->not_killed)
		kill(pid, SIGKILL);
	close(h->socket);
	h->pid = 0;
	h->waiting = false;
	return pid;
}
