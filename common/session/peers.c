/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
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
#include "session/peers.h"

/* By default only 1024 files may be open. */
static unsigned most_peers(unsigned most, unsigned files, unsigned own)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return most;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= own + (rlim_t)files * most)
		return most;
	return limit.rlim_cur > own ? (limit.rlim_cur - own) / files + 1 : 1;
}

int peers_enter_net(int net)
{
	int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);

	if (own >= 0 && !setns(net, CLONE_NEWNET))
		return own;
	if (own >= 0)
		close(own);
	return -1;
}

void peers_leave_net(int own)
{
	if (setns(own, CLONE_NEWNET))
		die(errno, "cannot return to the network namespace");
	close(own);
}

static int make_socket(const struct peers *p, int type)
{
	int own = p->net ? peers_enter_net(p->net) : -1, fd = p->net && own < 0 ? -1 : socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int err = errno;

	if (own >= 0)
		peers_leave_net(own);
	errno = err;
	return fd;
}

void peers_open(struct peers *p, int type, int backlog, unsigned most, unsigned files, unsigned own)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	unsigned long long random;
	size_t n;

	/* the name is no secret, but who can predict it can take it first */
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		die(errno, "cannot get random numbers");
	snprintf(p->name, sizeof(p->name), "cuda-bpf-tools-%016llx", random);
	n = strlen(p->name);
	memcpy(addr.sun_path + 1, p->name, n);
	p->most = most_peers(most, files, own);
	p->fd = make_socket(p, type);
	if (p->fd < 0 || bind(p->fd, (void *)&addr, offsetof(struct sockaddr_un, sun_path) + 1 + n) ||
	    listen(p->fd, backlog))
		die(errno, "cannot listen on a Unix socket");
}

int peers_accept(const struct peers *p, struct ucred *who)
{
	int fd = accept4(p->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	socklen_t n = sizeof(*who);

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, who, &n))
		*who = (struct ucred){ 0, -1, -1 };
	return fd;
}

bool peers_has_room(struct peers *p)
{
	if (p->n < p->most)
		return true;
	if (!p->full)
		warning(0, "%u processes of the command use CUDA at once: further ones are not %s", p->most, p->done);
	p->full = true;
	return false;
}

void peers_signal(int pidfd, int pid, int sig, int group)
{
	if (!proc_in_group(pid, group))
		syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0);
}

void peers_close(struct peers *p)
{
	if (p->fd > 0)
		close(p->fd);
	p->fd = -1;
}
