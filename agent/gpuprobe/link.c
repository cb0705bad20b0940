/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "agent/gpuprobe/link.h"
#include "base/overflow_uid.h"

/* Time-outs; a tool that receives nothing for SEND_MS is gone.  CONFIG_MS: for the connection
 * and the whole configuration. */
enum { AWAIT_MS = 1000, SEND_MS = 10000, CONFIG_MS = 1000, HIGH_FD = 4000 };

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

static void timeout_set(int fd, int option, int ms)
{
	struct timeval t = { ms / 1000, ms % 1000 * 1000 };

	setsockopt(fd, SOL_SOCKET, option, &t, sizeof(t));
}

/* Moves the socket to a high number, so that the program's descriptors keep theirs.  Returns -1 if only a standard stream's
 * number is free. */
static int out_of_the_way(int fd)
{
	struct rlimit limit;
	int high = -1;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		int at = limit.rlim_cur > HIGH_FD ? HIGH_FD : (int)limit.rlim_cur;

		while (high < 0 && (at -= at / 8 + 1) > STDERR_FILENO)
			high = fcntl(fd, F_DUPFD_CLOEXEC, at);
	}
	if (high < 0 && fd > STDERR_FILENO)
		return fd;
	close(fd);
	return high;
}

static void text_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
}

static bool told_apart(uid_t uid)
{
	char map[USERS_FILE], overflow[USERS_FILE];
	struct users users;

	text_read(UID_MAP_FILE, map, sizeof(map));
	text_read(OVERFLOW_UID_FILE, overflow, sizeof(overflow));
	users = (struct users){ users_overflow(overflow), users_all_mapped(map) };
	return users_told_apart(&users, uid);
}

/* Any user can listen at the name once the tool has ended, and the configuration changes kernels: checks the user. */
static bool trusted(int fd)
{
	struct ucred who;
	socklen_t n = sizeof(who);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) &&
	       (who.uid == geteuid() || !who.uid) && told_apart(who.uid);
}

/* until: as now_ms() */
static bool receive(int fd, void *p, size_t n, long long until)
{
	for (char *at = p; n;) {
		struct pollfd in = { .fd = fd, .events = POLLIN };
		const long long left = until - now_ms();
		ssize_t got;

		if (left <= 0)
			return false;
		poll(&in, 1, (int)left);
		got = recv(fd, at, n, MSG_DONTWAIT);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			return false;
		at += got;
		n -= (size_t)got;
	}
	return true;
}

static bool configured(int fd, struct gpuprobe_config *config, char **payload, long long until)
{
	struct gpuprobe_frame head;
	size_t more;

	if (!receive(fd, &head, sizeof(head), until) || head.kind != GPUPROBE_CONFIG ||
	    head.size < sizeof(*config) || head.size > GPUPROBE_FRAME_MAX ||
	    !receive(fd, config, sizeof(*config), until))
		return false;
	more = head.size - sizeof(*config);
	if (config->version != GPUPROBE_VERSION || (uint64_t)config->kernels_size + config->probe_size != more)
		return false;
	*payload = malloc(more + 1);
	if (!*payload)
		return false;
	(*payload)[more] = 0;
	if (receive(fd, *payload, more, until))
		return true;
	free(*payload);
	return false;
}

static bool ours(const struct link *link)
{
	struct stat st;

	return link->fd >= 0 && !fstat(link->fd, &st) && st.st_dev == link->dev && st.st_ino == link->ino;
}

bool link_open(struct link *link, const char *name, struct gpuprobe_config *config, char **payload)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const long long until = now_ms() + CONFIG_MS;
	size_t n = strlen(name);
	struct stat st;
	int fd;

	*link = (struct link){ .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };
	link->last = &link->first;
	if (!n || n >= sizeof(to.sun_path))
		return false;
	memcpy(to.sun_path + 1, name, n);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	fd = out_of_the_way(fd);
	if (fd < 0)
		return false;
	timeout_set(fd, SO_SNDTIMEO, CONFIG_MS);
	if (connect(fd, (void *)&to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) || !trusted(fd) ||
	    !configured(fd, config, payload, until) || fstat(fd, &st)) {
		close(fd);
		return false;
	}
	timeout_set(fd, SO_SNDTIMEO, SEND_MS);
	link->fd = fd;
	link->dev = st.st_dev;
	link->ino = st.st_ino;
	return true;
}

void link_await(struct link *link)
{
	char byte;

	if (!ours(link))
		return;
	timeout_set(link->fd, SO_RCVTIMEO, AWAIT_MS);
	while (recv(link->fd, &byte, sizeof(byte), 0) < 0 && errno == EINTR)
		;
}

void link_close(struct link *link)
{
	if (ours(link))
		close(link->fd);
	link->fd = -1;
}

static bool send_all(struct link *link, struct iovec *iov, int n)
{
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = (size_t)n };

	if (!ours(link)) {
		link->fd = -1;
		return false;
	}
	while (msg.msg_iovlen) {
		ssize_t sent = sendmsg(link->fd, &msg, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0) {		/* or a time-out: the peer cannot use half a frame */
			link_close(link);
			return false;
		}
		for (; msg.msg_iovlen && (size_t)sent >= msg.msg_iov->iov_len; msg.msg_iov++, msg.msg_iovlen--)
			sent -= (ssize_t)msg.msg_iov->iov_len;
		if (msg.msg_iovlen) {
			msg.msg_iov->iov_base = (char *)msg.msg_iov->iov_base + sent;
			msg.msg_iov->iov_len -= (size_t)sent;
		}
	}
	return true;
}

bool link_send(struct link *link, enum gpuprobe_kind kind, const void *p, size_t n, const void *more, size_t num_more)
{
	struct gpuprobe_frame head = { kind, (uint32_t)(n + num_more) };
	struct iovec iov[] = { { &head, sizeof(head) }, { (void *)p, n }, { (void *)more, num_more } };

	if (n + num_more > GPUPROBE_FRAME_MAX)
		return link_lost(link, 0, 1, "larger than a frame");
	return send_all(link, iov, 3);
}

bool link_lost(struct link *link, uint32_t module, unsigned long long count, const char *why)
{
	struct gpuprobe_lost lost = { module, (uint32_t)strlen(why), count };

	return link_send(link, GPUPROBE_LOST, &lost, sizeof(lost), why, lost.text_size);
}

void link_queue(struct link *link, enum gpuprobe_kind kind, const void *p, size_t n, const void *more, size_t num_more)
{
	size_t size = n + num_more;
	struct link_frame *frame = size <= GPUPROBE_FRAME_MAX ? malloc(sizeof(*frame) + size) : NULL;

	if (frame) {
		frame->next = NULL;
		frame->head = (struct gpuprobe_frame){ kind, (uint32_t)size };
		memcpy(frame->body, p, n);
		if (num_more)
			memcpy(frame->body + n, more, num_more);
	}
	pthread_mutex_lock(&link->lock);
	if (frame && link->queued + size <= LINK_QUEUE_MAX) {
		*link->last = frame;
		link->last = &frame->next;
		link->queued += size;
		frame = NULL;
	} else {
		link->dropped++;
	}
	pthread_mutex_unlock(&link->lock);
	free(frame);
}

bool link_flush(struct link *link)
{
	struct link_frame *frame, *next;
	unsigned long long dropped;

	pthread_mutex_lock(&link->lock);
	frame = link->first;
	link->first = NULL;
	link->last = &link->first;
	link->queued = 0;
	dropped = link->dropped;
	link->dropped = 0;
	pthread_mutex_unlock(&link->lock);
	for (; frame; frame = next) {
		struct iovec iov[] = { { &frame->head, sizeof(frame->head) }, { frame->body, frame->head.size } };

		next = frame->next;
		if (link->fd >= 0)
			send_all(link, iov, 2);
		free(frame);
	}
	if (dropped && link->fd >= 0)
		link_lost(link, 0, dropped, "the tool reads too slowly");
	return link->fd >= 0;
}
