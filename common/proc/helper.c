/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "bpf/bpf_mmap.h"
#include "proc/helper.h"

/* Goes before a request and an answer. */
struct helper_head {
	helper_fn *fn;		/* NULL in an answer */
	size_t size;		/* of the bytes that follow */
};

/* A request to a helper (see helper.h), as the function that serves it sees it. */

static bool write_all(int socket, const char *bytes, size_t size)
{
	ssize_t n;

	for (size_t done = 0; done < size; done += n) {
		n = send(socket, bytes + done, size - done, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			n = 0;
		if (n < 0)
			return false;
	}
	return true;
}

/* Write a head with its bytes and a descriptor (-1: none); read a head and a descriptor.  Return
 * false if the other side is gone, with errno set. */
static bool helper_write(int socket, const struct helper_head *head, const void *bytes, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { (void *)head, sizeof(*head) };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	if (fd >= 0) {
		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		*CMSG_FIRSTHDR(&msg) = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
		};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), &fd, sizeof(fd));
	}
	do
		n = sendmsg(socket, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == sizeof(*head) && write_all(socket, bytes, head->size);
}

static bool helper_read(int socket, struct helper_head *head, int *fd)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec part = { head, sizeof(*head) };
	struct msghdr msg = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control),
	};
	ssize_t n;

	*fd = -1;
	do
		n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC | MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	if (n > 0 && CMSG_FIRSTHDR(&msg))
		memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(*fd));
	return n == sizeof(*head);
}

void helper_put(struct helper_job *job, const void *bytes, size_t size)
{
	while (job->out_size + size > job->room) {
		job->room = job->room ? 2 * job->room : 4096;
		job->out = xrealloc(job->out, job->room, 1);
	}
	if (size)		/* else bytes may be NULL */
		memcpy(job->out + job->out_size, bytes, size);
	job->out_size += size;
}

void helper_put_fd(struct helper_job *job, int fd)
{
	job->out_fd = fd;
}

void helper_limit_cpu(unsigned seconds)
{
	struct rlimit limit;
	struct rusage used;

	getrlimit(RLIMIT_CPU, &limit);
	getrusage(RUSAGE_SELF, &used);
	limit.rlim_cur = limit.rlim_max;
	if (seconds)
		limit.rlim_cur = used.ru_utime.tv_sec + used.ru_stime.tv_sec + seconds;
	signal(SIGXCPU, SIG_DFL);
	setrlimit(RLIMIT_CPU, &limit);
}

/* Keeps the socket as 3, and nothing of the tool's: not its output, whose reader waits for the last
 * one to close it. */
static void close_others(int socket, const int *keep)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < 3; i++)
		dup2(null, i);
	for (int fd = 3, last = sysconf(_SC_OPEN_MAX); fd < last; fd++) {
		int next = last;

		if (socket >= fd && socket < next)
			next = socket;
		for (int i = 0; keep && keep[i] >= 0; i++)
			if (keep[i] >= fd && keep[i] < next)
				next = keep[i];
		if (next > fd)
			close_range(fd, next < last ? (unsigned)next - 1 : ~0u, 0);
		fd = next;
	}
}

/* More than this, and the data that the tool had already, it cannot allocate.  (AddressSanitizer's own
 * memory has no limit.) */
static void limit_memory(size_t more)
{
#ifndef __SANITIZE_ADDRESS__
	unsigned long pages = 0;
	struct rlimit limit;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%*u %*u %*u %*u %*u %lu", &pages) == 1 && more) {
		limit.rlim_cur = limit.rlim_max = pages * sysconf(_SC_PAGESIZE) + more;
		setrlimit(RLIMIT_DATA, &limit);
	}
	if (f)
		fclose(f);
#else
	(void)more;
#endif
}

static bool serve_one(int socket)
{
	struct helper_job job = { .out_fd = -1 };
	struct helper_head head, answer = { 0 };
	char *in;
	bool ok;

	if (!helper_read(socket, &head, &job.fd))
		return false;
	job.in = in = xcalloc(1, head.size + 1);
	job.size = head.size;
	ok = !head.size || recv(socket, in, head.size, MSG_WAITALL) == (ssize_t)head.size;
	if (ok)
		head.fn(&job);
	answer.size = job.out_size;
	ok = ok && helper_write(socket, &answer, job.out, job.out_fd);
	if (job.fd >= 0)
		close(job.fd);
	if (job.out_fd >= 0)
		close(job.out_fd);
	free(in);
	free(job.out);
	return ok;
}

/* Serves requests from the socket until the tool is gone; keep, memory and not_killed as in struct helper. */
static void helper_serve(int socket, const int *keep, size_t memory, bool not_killed)
{
	const struct rlimit no_core = { 0, 0 };

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, sig == SIGSEGV || sig == SIGBUS || sig == SIGABRT || sig == SIGFPE ? SIG_DFL : SIG_IGN);
	if (!not_killed)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &no_core);
	close_others(socket, keep);
	limit_memory(memory);
	while (serve_one(socket))
		;
	_exit(0);
}

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
