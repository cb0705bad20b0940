/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/hash.h"
#include "inject/inject_peers.h"
#include "proc/proc.h"

/* MOST: processes at a time.  OWN_FILES: the tool's. */
enum { MOST = 16384, OWN_FILES = 128, BACKLOG = 4096, EVENTS = 256 };

/* How often processes are checked for another program: exec is not reported. */
static const unsigned long long LOOK_NS = 100 * 1000000ull, EVERY_NS = 10 * 1000000ull, TURN_NS = 1000000;

/* PENDING: at the same time; the others wait in the socket's backlog. */
enum { PENDING = 64 };

/* When there are so many, one that has said nothing for so long makes room: programs speak at once. */
static const unsigned long long SHORT_NS = 100 * 1000000ull;

/* For processes that await to be asked, between two messages of others. */
static const unsigned long long AWAITING_NS = 3 * 1000000ull;

/* After that long without a message a connection is closed. */
static const unsigned long long SILENT_NS = 10 * 1000000000ull;

/* Parents between a process and the command: their pids may be reused, and form a ring. */
enum { DEPTH = 1000 };

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

bool inject_peers_sees(const struct inject_peers *p, int pid)
{
	const struct inject_process *at = find(p, pid);

	return at && !at->inner;
}

static void inject_peers_drop(struct inject_peers *p, struct inject_process *at)
{
	if (p->next == at)
		p->next = at->hh.next;
	HASH_DEL(p->processes, at);
	epoll_ctl(p->epoll, EPOLL_CTL_DEL, at->pidfd, NULL);	/* a helper may have a copy */
	close(at->pidfd);
	free(at);
	p->peers.n--;
}

static void end(struct inject_peers *p, struct inject_process *at)
{
	int pid = at->pid;

	inject_peers_drop(p, at);
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

/* Ends the processes of these events, after the messages that came before. */
static void reap(struct inject_peers *p, const struct epoll_event *events, int n)
{
	for (int i = 0; i < n; i++) {
		struct inject_process *at = find(p, events[i].data.u64);

		if (at && has_ended(at))	/* else its pid was reused */
			end(p, at);
	}
}

static bool inject_peers_add(struct inject_peers *p, int pid)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct inject_process *at;
	int fd;

	if (!peers_has_room(&p->peers))
		return false;
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
	p->peers.n++;
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

static void check_rights(struct inject_peers *p, struct inject_process *at)
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

static void check_program(struct inject_peers *p, struct inject_process *at)
{
	struct proc_identity now = proc_identity(at->pid);

	if (is_replaced(at, now)) {
		p->execed(p->ctx, at->pid);
		at->marks = 0;
		proc_rights(at->pid, &at->rights);
	}
	if (now.started && now.stack)
		at->is = now;
	check_rights(p, at);
}

static bool follow(struct inject_peers *p, int pid)
{
	struct inject_process *at = find(p, pid);

	if (at && has_ended(at)) {	/* its pid was reused */
		end(p, at);
		at = NULL;
	}
	if (!at)
		return inject_peers_add(p, pid);
	check_program(p, at);
	return true;
}

struct inject_connection {
	int fd, pid;		/* pid 0: it is refused */
	unsigned long long until;
	struct inject_connection *next;
};

/* Each socket has its turn. */
static int accept_any(struct inject_peers *p, struct ucred *who)
{
	int fd = -1;

	for (int i = 0; i < p->nsockets && fd < 0; i++)
		fd = peers_accept(&p->peers, p->sockets[p->turn++ % p->nsockets], who);
	return fd;
}

static void hang_up(struct inject_peers *p, struct inject_connection **at)
{
	struct inject_connection *c = *at;

	*at = c->next;
	close(c->fd);
	free(c);
	p->pending--;
}

/* The last one is the oldest. */
static bool has_place(struct inject_peers *p)
{
	struct inject_connection **at = &p->connections;

	if (p->pending < PENDING)
		return true;
	while ((*at)->next)
		at = &(*at)->next;
	if (clock_ns() + SILENT_NS - SHORT_NS < (*at)->until)
		return false;
	hang_up(p, at);
	return true;
}

static void accept_some(struct inject_peers *p)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct inject_connection *c;
	struct ucred who;
	int fd, pid;

	while (has_place(p) && (fd = accept_any(p, &who)) >= 0) {
		if (epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &event)) {
			close(fd);
			continue;
		}
		pid = who.uid == p->peers.user && who.pid > 0 ? who.pid : 0;
		c = xcalloc(1, sizeof(*c));
		*c = (struct inject_connection){ fd, pid, clock_ns() + SILENT_NS, p->connections };
		p->connections = c;
		p->pending++;
	}
}

/* A program that does not read its answer gets none.  Returns false if it waits no longer. */
static bool answer(const struct inject_peers *p, const struct inject_connection *c, int pid, bool with_memory)
{
	struct inject_answer a = { .version = INJECT_VERSION, .pid = pid, .bytes = p->bytes, .leave = p->leave && pid > 0,
				 .uid = p->peers.user };
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
	bool begins = m->head.kind == INJECT_HELLO || m->head.kind == INJECT_FORKED;
	bool yes = c->pid && follow(p, c->pid);

	if (yes)
		find(p, c->pid)->inner = m->head.pid != c->pid;
	yes = yes && p->message(p->ctx, c->pid, m);
	p->strangers += !c->pid && m->head.kind <= INJECT_FORKED;
	if (!answer(p, c, yes ? c->pid : -1, yes && begins) && yes && begins)
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

/* They go on when the connection is closed. */
static void serve_awaiting(struct inject_peers *p)
{
	unsigned long long end = clock_ns() + AWAITING_NS;
	struct ucred who;
	int fd;

	while (clock_ns() < end && (fd = peers_accept(&p->peers, p->awaits, &who)) >= 0) {
		if (who.uid == p->peers.user && who.pid > 0)
			p->came(p->ctx, who.pid);
		close(fd);
	}
}

static void serve_connections(struct inject_peers *p)
{
	struct inject_connection **at = &p->connections, *c;

	accept_some(p);
	while ((c = *at)) {
		if (p->awaits)	/* others would be held up meanwhile */
			serve_awaiting(p);
		if (serve(p, c)) {
			at = &c->next;
			continue;
		}
		hang_up(p, at);
	}
}

static bool add_socket(struct inject_peers *p, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &event))
		return false;
	p->sockets = xrealloc(p->sockets, p->nsockets + 1, sizeof(*p->sockets));
	p->sockets[p->nsockets++] = fd;
	return true;
}

void inject_peers_open(struct inject_peers *p)
{
	p->peers.done = "traced";
	peers_open(&p->peers, SOCK_SEQPACKET, BACKLOG, MOST, 1, OWN_FILES);
	p->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (p->epoll < 0 || !add_socket(p, p->peers.fd))
		die(errno, "cannot listen on a Unix socket");
}

int inject_peers_listen(struct inject_peers *p, int net)
{
	int fd = peers_listen(&p->peers, net), err;

	if (fd < 0 || add_socket(p, fd))
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

void inject_peers_unlisten(struct inject_peers *p, int socket)
{
	int i = 0;

	while (p->sockets[i] != socket)
		i++;
	p->sockets[i] = p->sockets[--p->nsockets];
	epoll_ctl(p->epoll, EPOLL_CTL_DEL, socket, NULL);	/* a helper may have a copy */
	close(socket);
}

/* Checks some in each turn: all of them about ten times a second if there are few. */
static void check_programs(struct inject_peers *p)
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
			check_program(p, at);
	}
}

bool inject_peers_await(struct inject_peers *p, const char *name)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = peers_listen_as(&p->peers, name);

	if (fd < 0 && errno == EADDRINUSE)
		return false;
	if (fd < 0 || epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &event))
		die(errno, "cannot listen on a Unix socket");
	p->awaits = fd;
	return true;
}

void inject_peers_serve(struct inject_peers *p)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(p->epoll, events, EVENTS, 0);

	if (n > 0 && p->awaits)
		serve_awaiting(p);
	if (n > 0 || p->connections)
		serve_connections(p);
	reap(p, events, n);
	check_programs(p);
}

struct command_process {
	int pid, parent;
	int fd;			/* of those that are meant, else -1 */
	UT_hash_handle hh;
};

static void list_process(void *ctx, int pid)
{
	struct command_process **all = ctx, *at = xcalloc(1, sizeof(*at));

	at->pid = pid;
	at->fd = -1;
	at->parent = proc_parent(pid);
	HASH_ADD_INT(*all, pid, at);
}

static bool descends(struct command_process *all, const struct command_process *at, int root)
{
	for (int i = 0; at && i < DEPTH; i++) {
		int parent = at->parent;

		if (at->pid == root)
			return true;
		HASH_FIND_INT(all, &parent, at);
	}
	return false;
}

/* A pid that was reused has another parent. */
static int open_process(const struct command_process *at)
{
	int fd = syscall(SYS_pidfd_open, at->pid, 0);

	if (fd < 0 || proc_parent(at->pid) == at->parent)
		return fd;
	close(fd);
	return -1;
}

/* All are found before the first one ends, as then its children have another parent. */
void inject_peers_signal(const struct inject_peers *p, int root, int sig, int group)
{
	struct command_process *all = NULL, *at, *next;

	proc_each(list_process, &all);
	HASH_ITER(hh, all, at, next)
		if (root && !proc_in_group(at->pid, group) && !find(p, at->pid) && descends(all, at, root))
			at->fd = open_process(at);
	HASH_ITER(hh, all, at, next) {
		if (at->fd >= 0) {
			syscall(SYS_pidfd_send_signal, at->fd, sig, NULL, 0);
			close(at->fd);
		}
		HASH_DEL(all, at);
		free(at);
	}
	for (const struct inject_process *of = p->processes; of; of = of->hh.next)
		peers_signal(of->pidfd, of->pid, sig, group);
}

void inject_peers_close(struct inject_peers *p)
{
	struct inject_process *at, *next;
	struct inject_connection *c;

	HASH_ITER(hh, p->processes, at, next)
		inject_peers_drop(p, at);
	while ((c = p->connections)) {
		p->connections = c->next;
		close(c->fd);
		free(c);
	}
	while (p->nsockets > 1)
		inject_peers_unlisten(p, p->sockets[1]);
	free(p->sockets);
	p->sockets = NULL;
	p->nsockets = 0;
	if (p->awaits > 0)
		close(p->awaits);
	peers_close(&p->peers);
	if (p->epoll > 0)
		close(p->epoll);
	p->epoll = -1;
}

