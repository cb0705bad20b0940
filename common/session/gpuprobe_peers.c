/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/die.h"
#include "proc/proc.h"
#include "session/gpuprobe_peers.h"
#include "session/gpuprobe_read.h"

enum { BACKLOG = 128 };

/* A command may have any number of processes that send nonsense. */
enum { WARNINGS = 16 };

/* What a peer takes, and what is left for files of the tool's own. */
enum { PEER_FILES = 2, OWN_FILES = 64 };

#ifndef SO_PEERPIDFD		/* Linux 6.5 */
#define SO_PEERPIDFD 77
#endif

/* Nobody else has to know it, but who knew it could take the name before. */
static void choose_name(char *name, size_t size)
{
	unsigned long long random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		die(errno, "no random numbers");
	snprintf(name, size, "cuda-bpf-tools-%016llx", random);
}

void gpuprobe_peers_open(struct gpuprobe_peers *p)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	size_t n;

	choose_name(p->name, sizeof(p->name));
	n = strlen(p->name);
	memcpy(addr.sun_path + 1, p->name, n);
	p->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->fd < 0 || bind(p->fd, (void *)&addr, offsetof(struct sockaddr_un, sun_path) + 1 + n) ||
	    listen(p->fd, BACKLOG))
		die(errno, "cannot listen on a Unix socket");
}

/* As many as there may be: by default only 1024 files may be open. */
static unsigned most_peers(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return GPU_PEERS;
	files.rlim_cur = files.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= OWN_FILES + PEER_FILES * GPU_PEERS)
		return GPU_PEERS;
	return files.rlim_cur > OWN_FILES ? (files.rlim_cur - OWN_FILES) / PEER_FILES + 1 : 1;
}

void gpuprobe_peers_config(struct gpuprobe_peers *p, const struct gpuprobe_config *config, const char *kernels,
		      const char *probe)
{
	size_t size = sizeof(*config) + config->kernels_size + config->probe_size;
	const struct gpuprobe_frame head = { GPUPROBE_CONFIG, size };
	char *at;

	p->most = most_peers();
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
	*peer = p->peer[--p->n];
}

static bool is_welcome(const struct gpuprobe_peers *p, const struct ucred *who)
{
	return who->uid == p->user || who->uid == geteuid() || !who->uid;
}

static int pidfd_of(int fd, pid_t pid)
{
	socklen_t n = sizeof(int);
	int pidfd;

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &n))
		return pidfd;
	return pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

static void add(struct gpuprobe_peers *p, int fd)
{
	struct ucred who;
	socklen_t n = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) || !is_welcome(p, &who)) {
		close(fd);
		return;
	}
	if (p->n == p->most) {
		if (!p->full)
			warning(0, "%u processes of the command use CUDA at once: further ones are not measured",
				p->most);
		p->full = true;
		close(fd);
		return;
	}
	p->peer = xrealloc(p->peer, p->n + 1, sizeof(*p->peer));
	p->peer[p->n++] = (struct gpuprobe_peer){ .id = ++p->seen, .fd = fd, .pid = who.pid,
						 .pidfd = pidfd_of(fd, who.pid) };
}

static bool accept_peers(struct gpuprobe_peers *p)
{
	bool any = false;
	int fd;

	for (int i = 0; i < BACKLOG; i++) {
		fd = accept4(p->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return any;
		add(p, fd);
		any = true;
	}
	return any;
}

/* Sends what fits of the configuration.  Returns false if the peer is gone. */
static bool tell(const struct gpuprobe_peers *p, struct gpuprobe_peer *peer)
{
	ssize_t n;

	while (peer->told < p->config_size) {
		n = send(peer->fd, (char *)p->config + peer->told, p->config_size - peer->told, MSG_NOSIGNAL);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		peer->told += n;
	}
	return true;
}

/* Returns false if the connection is at its end. */
static bool serve(struct gpuprobe_peers *p, struct gpuprobe_peer *peer, short events)
{
	const char *wrong;

	/* one that has ended cannot be told anything, but what it sent is still there */
	if (events & POLLOUT && !tell(p, peer) && !(events & POLLIN))
		return false;
	if (!(events & (POLLIN | POLLHUP | POLLERR)))
		return true;
	switch (gpuprobe_read(p, peer, &wrong)) {
	case GPU_READ_MORE:
		return true;
	case GPU_READ_END:
		return false;
	case GPU_READ_WRONG:
		if (p->wrong++ < WARNINGS)
			warning(0, "process %d: %s: it is not measured any longer", peer->pid, wrong);
	}
	return false;
}

bool gpuprobe_peers_poll(struct gpuprobe_peers *p, int ms)
{
	struct pollfd *fds = xcalloc(p->n + 1, sizeof(*fds));
	bool any = false;

	for (unsigned i = 0; i < p->n; i++)
		fds[i] = (struct pollfd){ p->peer[i].fd, POLLIN | (p->peer[i].told < p->config_size ? POLLOUT : 0), 0 };
	fds[p->n] = (struct pollfd){ p->fd, POLLIN, 0 };
	if (poll(fds, p->n + 1, ms) > 0) {
		bool new = fds[p->n].revents;

		/* backwards: the last one, which has been served, takes the place of one that is dropped */
		for (unsigned i = p->n; i-- > 0; ) {
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
	for (unsigned i = 0; i < p->n; i++)
		if (p->peer[i].pidfd >= 0 && p->peer[i].pid != pid && !proc_in_group(p->peer[i].pid, group))
			syscall(SYS_pidfd_send_signal, p->peer[i].pidfd, sig, NULL, 0);
}

void gpuprobe_peers_close(struct gpuprobe_peers *p)
{
	while (p->n)
		drop(p, &p->peer[p->n - 1]);
	if (p->fd > 0)
		close(p->fd);
	free(p->peer);
	free(p->config);
	p->peer = NULL;
	p->config = NULL;
	p->fd = -1;
}
