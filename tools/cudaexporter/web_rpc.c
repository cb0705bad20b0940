/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/die.h"
#include "cudaexporter/web_rpc.h"

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

	/* seccomp denies the server sendmsg() */
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

FILE *web_memfd_open(const char *name, int *fd)
{
	int copy = -1;
	FILE *f;

	*fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd >= 0)
		copy = fcntl(*fd, F_DUPFD_CLOEXEC, 0);
	f = copy >= 0 ? fdopen(copy, "w") : NULL;
	if (!f && *fd >= 0)
		close(*fd);
	return f;
}

int web_memfd_seal(FILE *f, int fd, bool keep)
{
	bool failed = ferror(f);

	failed |= fclose(f) != 0;
	if (keep && !failed && !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
		return fd;
	close(fd);
	return -1;
}

static void put(FILE *f, const char *s)
{
	size_t size = s ? strlen(s) + 1 : 0;

	fwrite(&size, sizeof(size), 1, f);
	fwrite(s ? s : "", size, 1, f);
}

/* Format: the struct without its pointers, then the strings in the order of strings(), each as its size (0: NULL) and its
 * bytes with a '\0'. */
int web_config_fd_write(const struct web_server_config *b)
{
	int fd;
	FILE *f = web_memfd_open("cudaexporter-config", &fd);
	struct web_server_config without = *b;

	if (!f)
		return -1;
	without.path = without.priority = without.cert = without.key = without.ca = NULL;
	without.users = NULL;
	fwrite(&without, sizeof(without), 1, f);
	put(f, b->path);
	put(f, b->priority);
	put(f, b->cert);
	put(f, b->key);
	put(f, b->ca);
	for (int i = 0; i < b->nusers; i++) {
		put(f, b->users[i].name);
		put(f, b->users[i].hash);
	}
	return web_memfd_seal(f, fd, true);
}

/* The unread bytes. */
struct rest { char *at; size_t size; };

static bool web_rpc_take(struct rest *r, void *into, size_t size)
{
	if (size > r->size)
		return false;
	memcpy(into, r->at, size);
	r->at += size;
	r->size -= size;
	return true;
}

static bool get(struct rest *r, const char **s)
{
	size_t size;

	if (!web_rpc_take(r, &size, sizeof(size)) || size > r->size || (size && r->at[size - 1]))
		return false;
	*s = size ? r->at : NULL;
	r->at += size;
	r->size -= size;
	return true;
}

static bool strings(struct rest *r, struct web_server_config *b)
{
	if (!get(r, &b->path) || !get(r, &b->priority) || !get(r, &b->cert) || !get(r, &b->key) || !get(r, &b->ca))
		return false;
	b->users = xcalloc(b->nusers + 1, sizeof(*b->users));
	for (int i = 0; i < b->nusers; i++)
		if (!get(r, (const char **)&b->users[i].name) || !get(r, (const char **)&b->users[i].hash))
			return false;
	return true;
}

bool web_config_fd_read(int fd, struct web_server_config *b)
{
	struct rest r;
	struct stat st;

	if (fstat(fd, &st))
		return false;
	r.size = st.st_size;
	r.at = mmap(NULL, r.size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (r.at == MAP_FAILED)
		return false;
	if (web_rpc_take(&r, b, sizeof(*b)) && strings(&r, b))
		return true;
	errno = EINVAL;
	return false;
}

void web_rpc_init(struct web_rpc *a, int socket)
{
	pthread_condattr_t attr;

	a->socket = socket;
	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&a->answered, &attr);
	pthread_condattr_destroy(&attr);
}

uint64_t web_rpc_id(struct web_rpc *a)
{
	uint64_t id;

	pthread_mutex_lock(&a->lock);
	id = ++a->last_id;
	pthread_mutex_unlock(&a->lock);
	return id;
}

static struct web_wait *wait_of(struct web_rpc *a, uint64_t id)
{
	for (int i = 0; i < WEB_WAITS; i++)
		if (a->wait[i].id == id)
			return &a->wait[i];
	return NULL;
}

/* Call with the lock held. */
static enum web_answer answer_of(struct web_rpc *a, struct web_wait *w, unsigned long long deadline, int *fd)
{
	struct timespec until = { deadline / 1000000000, deadline % 1000000000 };

	while (!w->answered)
		if (pthread_cond_timedwait(&a->answered, &a->lock, &until))
			break;
	if (!w->answered)
		return WEB_ANSWER_LATE;
	*fd = w->fd;
	return w->ok ? WEB_ANSWER_PAGE : WEB_ANSWER_NONE;
}

enum web_answer web_rpc_page(struct web_rpc *a, const struct web_request *r, unsigned long long deadline, int *fd)
{
	struct web_message m = { .type = WEB_ASK_PAGE, .format = r->format, .what = r->what,
				 .scraper = r->scraper, .seconds = r->seconds, .id = web_rpc_id(a) };
	enum web_answer answer = WEB_ANSWER_LATE;
	struct web_wait *w;

	*fd = -1;
	pthread_mutex_lock(&a->lock);
	w = wait_of(a, 0);
	if (w) {
		*w = (struct web_wait){ .id = m.id, .fd = -1 };
		if (web_message_send(a->socket, &m, -1))
			answer = answer_of(a, w, deadline, fd);
		w->id = 0;
	}
	pthread_mutex_unlock(&a->lock);
	return answer;
}

void web_rpc_answer(struct web_rpc *a, const struct web_message *m, int fd)
{
	struct web_wait *w;

	pthread_mutex_lock(&a->lock);
	w = m->id ? wait_of(a, m->id) : NULL;
	if (w && !w->answered) {
		w->answered = true;
		w->ok = m->ok;
		w->fd = fd;
		fd = -1;
		pthread_cond_broadcast(&a->answered);
	}
	pthread_mutex_unlock(&a->lock);
	if (fd >= 0)
		close(fd);
}
