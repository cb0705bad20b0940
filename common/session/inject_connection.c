/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "session/inject_connection.h"
#include "session/inject_peer.h"

/* PENDING: at once; the others wait in the socket's backlog. */
enum { PENDING = 64 };

/* After that long without a message a connection is closed. */
static const unsigned long long SILENT_NS = 10 * 1000000000ull;

struct inject_connection {
	int fd, pid;		/* pid 0: it is refused */
	unsigned long long until;
	struct inject_connection *next;
};

/* Returns the process at the other end, as seen from here; 0 if it may not connect. */
static int peer_of(const struct inject_peers *p, int fd)
{
	struct ucred who;
	socklen_t n = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) || who.uid != p->user || who.pid <= 0)
		return 0;
	return who.pid;
}

static void accept_some(struct inject_peers *p)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct inject_connection *c;
	int fd;

	while (p->pending < PENDING && (fd = accept4(p->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		if (epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &event)) {
			close(fd);
			continue;
		}
		c = xcalloc(1, sizeof(*c));
		*c = (struct inject_connection){ fd, peer_of(p, fd), clock_ns() + SILENT_NS, p->connections };
		p->connections = c;
		p->pending++;
	}
}

/* A program that does not read its answer does without.  Returns false if it waits no longer. */
static bool answer(const struct inject_peers *p, const struct inject_connection *c, int pid, bool with_memory)
{
	struct inject_answer a = { .version = INJECT_VERSION, .pid = pid, .bytes = p->bytes, .leave = p->leave && pid > 0,
				 .uid = p->user };
	union { struct cmsghdr head; char bytes[CMSG_SPACE(sizeof(p->memory))]; } control = { 0 };
	struct iovec part = { &a, sizeof(a) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	if (pid > 0) {
		const struct python_process *python = p->python(p->ctx, pid);

		proc_comm(pid, a.comm);
		if (python)
			a.python = *python;
	}
	if (with_memory) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		control.head = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(p->memory)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
		};
		memcpy(CMSG_DATA(&control.head), p->memory, sizeof(p->memory));
	}
	return sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0 || errno == EAGAIN;
}

static bool is_message(const struct inject_message *m, ssize_t size)
{
	return size >= (ssize_t)sizeof(m->head) && m->head.version == INJECT_VERSION &&
	       m->head.kind >= INJECT_HELLO && m->head.kind <= INJECT_CHANGED && m->head.size == size - sizeof(m->head);
}

static void handle(struct inject_peers *p, const struct inject_connection *c, const struct inject_message *m)
{
	bool yes = c->pid && p->follow(p, c->pid) && p->told(p->ctx, c->pid, m);
	bool hello = yes && m->head.kind == INJECT_HELLO, forked = yes && m->head.kind == INJECT_FORKED;

	p->strangers += !c->pid && m->head.kind <= INJECT_FORKED;
	if (!answer(p, c, yes ? c->pid : -1, hello || forked) && (hello || forked))
		p->late++;
}

/* Returns false if the connection is at its end. */
static bool serve(struct inject_peers *p, const struct inject_connection *c)
{
	struct inject_message m = { 0 };
	ssize_t size = recv(c->fd, &m, sizeof(m) - 1, MSG_DONTWAIT | MSG_TRUNC);

	if (size < 0)
		return (errno == EAGAIN || errno == EINTR) && clock_ns() < c->until;
	if (size > (ssize_t)sizeof(m) - 1 || !is_message(&m, size))
		return false;
	handle(p, c, &m);
	return true;
}

void inject_connections_serve(struct inject_peers *p)
{
	struct inject_connection **at = &p->connections, *c;

	accept_some(p);
	while ((c = *at)) {
		if (serve(p, c)) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		close(c->fd);
		free(c);
		p->pending--;
	}
}

void inject_connections_close(struct inject_peers *p)
{
	struct inject_connection *c;

	while ((c = p->connections)) {
		p->connections = c->next;
		close(c->fd);
		free(c);
	}
	p->pending = 0;
}
