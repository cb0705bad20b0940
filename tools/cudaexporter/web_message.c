/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "cudaexporter/web_message.h"

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

bool web_message_send(int socket, const struct web_message *m, int fd)
{
	struct iovec part = { .iov_base = (void *)m, .iov_len = sizeof(*m) };
	struct msghdr h = { .msg_iov = &part, .msg_iovlen = 1 };
	union control control;
	struct cmsghdr *c;

	/* the server may not call sendmsg() */
	if (fd < 0)
		return send(socket, m, sizeof(*m), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(*m);
	memset(&control, 0, sizeof(control));
	h.msg_control = control.bytes;
	h.msg_controllen = sizeof(control.bytes);
	c = CMSG_FIRSTHDR(&h);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(socket, &h, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(*m);
}

static int descriptor_of(struct msghdr *h)
{
	int fd = -1;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
		    c->cmsg_len == CMSG_LEN(sizeof(fd)))
			memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

int web_message_receive_alone(int socket, struct web_message *m)
{
	/* MSG_TRUNC: the size that was sent */
	ssize_t n = recv(socket, m, sizeof(*m), MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	return n == sizeof(*m) ? 1 : -1;
}

int web_message_receive(int socket, struct web_message *m, int *fd)
{
	struct iovec part = { .iov_base = m, .iov_len = sizeof(*m) };
	union control control;
	struct msghdr h = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	ssize_t n = recvmsg(socket, &h, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*fd = -1;
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	*fd = descriptor_of(&h);
	if (n == sizeof(*m) && !(h.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return 1;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return -1;
}
