/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "session/inject_connection.h"
#include "session/inject_peers.h"

/* MOST: processes at a time.  OWN_FILES: left for the tool's own. */
enum { MOST = 16384, OWN_FILES = 128, BACKLOG = 4096, EVENTS = 256 };

/* How often it is seen which program a process runs: exec tells nobody. */
static const unsigned long long LOOK_NS = 100 * 1000000ull, EVERY_NS = 10 * 1000000ull, TURN_NS = 1000000;

static unsigned most_processes(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= OWN_FILES + MOST)
		return MOST;
	return files.rlim_cur > OWN_FILES ? files.rlim_cur - OWN_FILES : 1;
}

static struct inject_process *find(const struct inject_peers *p, int pid)
{
	struct inject_process *at;

	HASH_FIND_INT(p->processes, &pid, at);
	return at;
}

bool inject_peers_has(const struct inject_peers *p, int pid)
{
	return find(p, pid);
}

static void drop(struct inject_peers *p, struct inject_process *at)
{
	if (p->next == at)
		p->next = at->hh.next;
	HASH_DEL(p->processes, at);
	epoll_ctl(p->epoll, EPOLL_CTL_DEL, at->pidfd, NULL);	/* a helper may have a copy */
	close(at->pidfd);
	free(at);
	p->n--;
}

static void end(struct inject_peers *p, struct inject_process *at)
{
	int pid = at->pid;

	drop(p, at);
	p->ended(p->ctx, pid);
}

static bool has_ended(const struct inject_process *at)
{
	struct pollfd fd = { .fd = at->pidfd, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

bool inject_peers_lives(const struct inject_peers *p, int pid)
{
	const struct inject_process *at = find(p, pid);

	return at && !has_ended(at);
}

/* Those that the events are of: what they and others said is known. */
static void reap(struct inject_peers *p, const struct epoll_event *events, int n)
{
	for (int i = 0; i < n; i++) {
		struct inject_process *at = find(p, events[i].data.u64);

		if (at && has_ended(at))	/* else another has its number by now */
			end(p, at);
	}
}

static bool add(struct inject_peers *p, int pid)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct inject_process *at;
	int fd;

	if (p->n == p->most) {
		if (!p->full)
			warning(0, "the command has %u processes that use CUDA at once: further ones are not traced", p->most);
		p->full = true;
		return false;
	}
	fd = syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		return false;
	at = xcalloc(1, sizeof(*at));
	at->pid = pid;
	at->pidfd = fd;
	at->is = proc_identity(pid);
	proc_rights(pid, &at->rights);
	event.data.u64 = pid;	/* 0: the socket, or a connection */
	if (epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &event)) {
		close(fd);
		free(at);
		return false;
	}
	HASH_ADD_INT(p->processes, pid, at);
	p->n++;
	return true;
}

/* Return true if the process runs another program than it did; one that is ending has none. */
static bool is_replaced(const struct inject_process *at, struct proc_identity now)
{
	return now.started && now.stack && at->is.stack && now.stack != at->is.stack;
}

static void mark(struct inject_peers *p, struct inject_process *at, unsigned mark)
{
	if (!(at->marks & mark))
		p->marked(p->ctx, at->pid, mark);
	at->marks |= mark;
}

static void look_at_rights(struct inject_peers *p, struct inject_process *at)
{
	const struct proc_rights *was = &at->rights;
	struct proc_rights now;

	if (!proc_rights(at->pid, &now) || has_ended(at))
		return;
	if (now.filters > was->filters)
		mark(p, at, INJECT_FILTERED);
	if (now.uid != was->uid || now.effective != was->effective)
		mark(p, at, INJECT_OTHER_USER);
}

static void look_at_program(struct inject_peers *p, struct inject_process *at)
{
	struct proc_identity now = proc_identity(at->pid);

	if (is_replaced(at, now)) {
		p->execed(p->ctx, at->pid);
		at->marks = 0;
		proc_rights(at->pid, &at->rights);
	}
	if (now.started && now.stack)
		at->is = now;
	look_at_rights(p, at);
}

static bool follow(struct inject_peers *p, int pid)
{
	struct inject_process *at = find(p, pid);

	if (at && has_ended(at)) {	/* another has its number */
		end(p, at);
		at = NULL;
	}
	if (!at)
		return add(p, pid);
	look_at_program(p, at);
	return true;
}

void inject_peers_open(struct inject_peers *p)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	unsigned long long random;
	size_t n;

	/* nobody else has to know it, but who knew it could take the name before */
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		die(errno, "no random numbers");
	snprintf(p->name, sizeof(p->name), "cuda-bpf-tools-%016llx", random);
	n = strlen(p->name);
	memcpy(addr.sun_path + 1, p->name, n);
	p->most = most_processes();
	p->follow = follow;
	p->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	p->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (p->fd < 0 || bind(p->fd, (void *)&addr, offsetof(struct sockaddr_un, sun_path) + 1 + n) ||
	    listen(p->fd, BACKLOG) || p->epoll < 0 || epoll_ctl(p->epoll, EPOLL_CTL_ADD, p->fd, &event))
		die(errno, "cannot listen on a Unix socket");
}

/* At some in each turn, at all about ten times a second if there are few. */
static void look_at_programs(struct inject_peers *p)
{
	unsigned long long now = clock_ns(), end = now + TURN_NS;

	if (now - p->turned < EVERY_NS)
		return;
	p->turned = now;
	if (!p->next) {
		if (now - p->looked < LOOK_NS)
			return;
		p->looked = now;
		p->next = p->processes;
	}
	while (p->next && clock_ns() < end) {
		struct inject_process *at = p->next;

		p->next = at->hh.next;
		if (!has_ended(at))
			look_at_program(p, at);
	}
}

void inject_peers_serve(struct inject_peers *p)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(p->epoll, events, EVENTS, 0);

	if (n > 0 || p->connections)
		inject_connections_serve(p);
	reap(p, events, n);
	look_at_programs(p);
}

void inject_peers_signal(const struct inject_peers *p, int sig, int group)
{
	for (struct inject_process *at = p->processes; at; at = at->hh.next)
		if (!proc_in_group(at->pid, group))
			syscall(SYS_pidfd_send_signal, at->pidfd, sig, NULL, 0);
}

void inject_peers_close(struct inject_peers *p)
{
	struct inject_process *at, *next;

	HASH_ITER(hh, p->processes, at, next)
		drop(p, at);
	inject_connections_close(p);
	if (p->fd > 0)
		close(p->fd);
	if (p->epoll > 0)
		close(p->epoll);
	p->fd = p->epoll = -1;
}
