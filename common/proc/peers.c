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
#include "base/overflow_uid.h"
#include "proc/peers.h"
#include "proc/proc.h"

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

int peers_listen_as(const struct peers *p, const char *name)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, p->type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;
	size_t n = strlen(name);

	memcpy(addr.sun_path + 1, name, n);
	if (fd >= 0 && !bind(fd, (void *)&addr, offsetof(struct sockaddr_un, sun_path) + 1 + n) && !listen(fd, p->backlog))
		return fd;
	err = errno;
	if (fd >= 0)
		close(fd);
	errno = err;
	return -1;
}

static void text_read(const char *path, char *text, int size)
{
	FILE *f = fopen(path, "re");

	if (!f || !fgets(text, size, f))
		*text = 0;
	if (f)
		fclose(f);
}

static void users_read(struct users *u)
{
	char map[USERS_FILE], overflow[USERS_FILE];

	text_read(UID_MAP_FILE, map, sizeof(map));
	text_read(OVERFLOW_UID_FILE, overflow, sizeof(overflow));
	*u = (struct users){ users_overflow(overflow), users_all_mapped(map) };
}

void peers_open(struct peers *p, int type, int backlog, unsigned most, unsigned files, unsigned own)
{
	unsigned long long random;

	users_read(&p->users);
	if (!users_told_apart(&p->users, p->user))
		die(0, "UID %u is the overflow UID of this user namespace: users cannot be told "
		       "apart (map them)", p->user);
	/* the name is no secret, but who can predict it can take it first */
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		die(errno, "cannot get random numbers");
	snprintf(p->name, sizeof(p->name), "cuda-bpf-tools-%016llx", random);
	p->most = most_peers(most, files, own);
	p->type = type;
	p->backlog = backlog;
	p->fd = peers_listen_as(p, p->name);
	if (p->fd < 0)
		die(errno, "cannot listen on a Unix socket");
}

int peers_listen(const struct peers *p, int net)
{
	int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), fd = -1, err;

	if (own >= 0 && !setns(net, CLONE_NEWNET)) {
		fd = peers_listen_as(p, p->name);
		err = errno;
		if (setns(own, CLONE_NEWNET))
			die(errno, "cannot return to the network namespace");
	} else {
		err = errno;
	}
	if (own >= 0)
		close(own);
	errno = err;
	return fd;
}

int peers_accept(const struct peers *p, int socket, struct ucred *who)
{
	int fd = accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	socklen_t n = sizeof(*who);

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, who, &n) ||
	    !users_told_apart(&p->users, who->uid))
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
