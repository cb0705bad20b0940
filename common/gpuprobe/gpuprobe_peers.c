/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/die.h"
#include "gpuprobe/gpuprobe_peers.h"

/* MOST: beyond these, or with too few descriptors, a connection is refused.  PEER_FILES: of each; OWN_FILES: of the tool. */
enum { MOST = 1024, PEER_FILES = 2, OWN_FILES = 64, BACKLOG = 128 };

/* A command may have any number of processes that send malformed frames. */
enum { WARNINGS = 16 };

#ifndef SO_PEERPIDFD		/* Linux 6.5 */
#define SO_PEERPIDFD 77
#endif

enum read_result {
	READ_MORE,		/* nothing more for now */
	READ_END,		/* it has closed the connection, or died */
	READ_WRONG,		/* *wrong is why: the rest cannot be read */
};

/* Bytes read from one peer before others have their turn. */
enum { TURN = 16 << 20 };

/* Room for a frame grows by at least this: the peer's claim of its size is untrusted. */
enum { STEP = 64 << 10 };

/* Of all peers' frames that are not whole yet. */
static const size_t HELD_MAX = 4 * (size_t)GPUPROBE_FRAME_MAX;

/* Makes room for more of the frame than has come: twice as much, but not more than the whole. */
static const char *gpuprobe_peers_grow(struct gpuprobe_peers *p, struct gpuprobe_peer *peer)
{
	size_t have = peer->got - sizeof(peer->head), room = 2 * peer->room + STEP;

	if (have < peer->room)
		return NULL;
	if (room > peer->head.size)
		room = peer->head.size;
	if (p->held + room - peer->room > HELD_MAX)
		return "too many large frames at once";
	peer->data = xrealloc(peer->data, room, 1);
	p->held += room - peer->room;
	peer->room = room;
	return NULL;
}

static const char *check_head(const struct gpuprobe_peer *peer)
{
	if (peer->head.size > GPUPROBE_FRAME_MAX)
		return "frame too large";
	if (!peer->greeted && peer->head.kind != GPUPROBE_HELLO)
		return "no greeting";
	if (peer->bye)
		return "data after its end";
	return NULL;
}

static const char *whole(struct gpuprobe_peers *p, struct gpuprobe_peer *peer)
{
	const char *wrong = p->frame(p->ctx, peer, peer->head.kind, peer->data, peer->head.size);

	peer->greeted = p->greeted = true;
	peer->bye = peer->head.kind == GPUPROBE_BYE;
	if (peer->bye)		/* the peer may wait until all was read */
		shutdown(peer->fd, SHUT_WR);
	peer->got = 0;
	p->held -= peer->room;
	free(peer->data);
	peer->data = NULL;
	peer->room = 0;
	return wrong;
}

/* Reads up to the end of the head, or of the frame.  Returns as recv(2). */
static ssize_t receive(struct gpuprobe_peer *peer)
{
	size_t at = peer->got, head = sizeof(peer->head);
	ssize_t n;

	if (at < head)
		n = recv(peer->fd, (char *)&peer->head + at, head - at, 0);
	else
		n = recv(peer->fd, peer->data + at - head, peer->room - (at - head), 0);
	if (n > 0)
		peer->got += n;
	return n;
}

/* Takes the next step once bytes have come. */
static const char *step(struct gpuprobe_peers *p, struct gpuprobe_peer *peer)
{
	const char *wrong;

	if (peer->got < sizeof(peer->head))
		return NULL;
	if (peer->got == sizeof(peer->head)) {
		wrong = check_head(peer);
		if (wrong)
			return wrong;
	}
	if (peer->got == sizeof(peer->head) + peer->head.size)
		return whole(p, peer);
	return gpuprobe_peers_grow(p, peer);
}

/* Reads what has come, but not without end, and calls p->frame for each whole frame. */
static enum read_result read_frames(struct gpuprobe_peers *p, struct gpuprobe_peer *peer, const char **wrong)
{
	ssize_t n;

	for (size_t turn = 0; turn < TURN; turn += n) {
		n = receive(peer);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return READ_MORE;
		if (n <= 0)	/* a part of a frame, if there is one, is of a process that was killed */
			return READ_END;
		*wrong = step(p, peer);
		if (*wrong)
			return READ_WRONG;
	}
	return READ_MORE;
}

void gpuprobe_peers_open(struct gpuprobe_peers *p)
{
	p->peers.done = "measured";
	peers_open(&p->peers, SOCK_STREAM, BACKLOG, MOST, PEER_FILES, OWN_FILES);
}

void gpuprobe_peers_config(struct gpuprobe_peers *p, const struct gpuprobe_config *config, const char *kernels,
			   const char *probe)
{
	size_t size = sizeof(*config) + config->kernels_size + config->probe_size;
	const struct gpuprobe_frame head = { GPUPROBE_CONFIG, size };
	char *at;

	p->config_size = sizeof(head) + size;
	p->config = at = xcalloc(1, p->config_size);
	at = mempcpy(at, &head, sizeof(head));
	at = mempcpy(at, config, sizeof(*config));
	at = mempcpy(at, kernels, config->kernels_size);
	memcpy(at, probe, config->probe_size);
}

static void drop(struct gpuprobe_peers *p, struct gpuprobe_peer *peer)
{
	close(peer->fd);
	if (peer->pidfd >= 0)
		close(peer->pidfd);
	p->held -= peer->room;
	free(peer->data);
	*peer = p->peer[--p->peers.n];
}

static bool is_welcome(const struct gpuprobe_peers *p, const struct ucred *who)
{
	return who->uid == p->peers.user || who->uid == geteuid() || !who->uid;
}

static int pidfd_of(int fd, pid_t pid)
{
	socklen_t n = sizeof(int);
	int pidfd;

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &n))
		return pidfd;
	return pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

static void gpuprobe_peers_add(struct gpuprobe_peers *p, int fd, const struct ucred *who)
{
	unsigned n = p->peers.n;

	if (!is_welcome(p, who) || !peers_has_room(&p->peers)) {
		close(fd);
		return;
	}
	p->peer = xrealloc(p->peer, n + 1, sizeof(*p->peer));
	p->peer[n] = (struct gpuprobe_peer){ .id = ++p->seen, .fd = fd, .pid = who->pid, .pidfd = pidfd_of(fd, who->pid) };
	p->peers.n++;
}

static bool accept_peers(struct gpuprobe_peers *p)
{
	struct ucred who;
	bool any = false;
	int fd;

	for (int i = 0; i < BACKLOG; i++) {
		fd = peers_accept(&p->peers, p->peers.fd, &who);
		if (fd < 0)
			return any;
		gpuprobe_peers_add(p, fd, &who);
		any = true;
	}
	return any;
}

/* Sends what fits of the configuration.  Returns false if the peer is gone. */
static bool send_config(const struct gpuprobe_peers *p, struct gpuprobe_peer *peer)
{
	ssize_t n;

	while (peer->sent < p->config_size) {
		n = send(peer->fd, (char *)p->config + peer->sent, p->config_size - peer->sent, MSG_NOSIGNAL);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		peer->sent += n;
	}
	return true;
}

/* Returns false if the connection is at its end. */
static bool serve(struct gpuprobe_peers *p, struct gpuprobe_peer *peer, short events)
{
	const char *wrong;

	/* sending to one that has ended fails, but what it sent is still there */
	if (events & POLLOUT && !send_config(p, peer) && !(events & POLLIN))
		return false;
	if (!(events & (POLLIN | POLLHUP | POLLERR)))
		return true;
	switch (read_frames(p, peer, &wrong)) {
	case READ_MORE:
		return true;
	case READ_END:
		return false;
	case READ_WRONG:
		if (p->wrong++ < WARNINGS)
			warning(0, "process %d: %s: it is not measured any longer", peer->pid, wrong);
	}
	return false;
}

bool gpuprobe_peers_poll(struct gpuprobe_peers *p, int ms)
{
	struct pollfd *fds = xcalloc(p->peers.n + 1, sizeof(*fds));
	bool any = false;

	for (unsigned i = 0; i < p->peers.n; i++)
		fds[i] = (struct pollfd){ p->peer[i].fd, POLLIN | (p->peer[i].sent < p->config_size ? POLLOUT : 0), 0 };
	fds[p->peers.n] = (struct pollfd){ p->peers.fd, POLLIN, 0 };
	if (poll(fds, p->peers.n + 1, ms) > 0) {
		bool new = fds[p->peers.n].revents;

		/* backwards: the last one, which has been served, takes the place of one that is dropped */
		for (unsigned i = p->peers.n; i-- > 0; ) {
			any |= fds[i].revents;
			if (fds[i].revents && !serve(p, &p->peer[i], fds[i].revents))
				drop(p, &p->peer[i]);
		}
		any |= new && accept_peers(p);
	}
	free(fds);
	return any;
}

void gpuprobe_peers_signal(const struct gpuprobe_peers *p, int sig, int pid, int group)
{
	for (unsigned i = 0; i < p->peers.n; i++)
		if (p->peer[i].pidfd >= 0 && p->peer[i].pid != pid)
			peers_signal(p->peer[i].pidfd, p->peer[i].pid, sig, group);
}

void gpuprobe_peers_close(struct gpuprobe_peers *p)
{
	while (p->peers.n)
		drop(p, &p->peer[p->peers.n - 1]);
	peers_close(&p->peers);
	free(p->peer);
	free(p->config);
	p->peer = NULL;
	p->config = NULL;
}
