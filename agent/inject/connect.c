/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Messages to the tool, and its answers.  The descriptors are closed before the program continues. */
#define _GNU_SOURCE
#include <stddef.h>
#include <asm/stat.h>
#include <linux/fcntl.h>
#include <linux/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "agent/inject/inject.h"

/* Between two attempts while the socket's queue is full. */
enum { LONGEST_MS = 32 };

enum { EAGAIN_ = 11 };

static int tool_open(struct injected *a, struct ucred *who, const __u64 *mask)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	unsigned long n = length(a->socket);
	const int type = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;
	int fd = (int)sys3(__NR_socket, AF_UNIX, type, 0), ms = 1;
	long err;

	if (fd < 0)
		return -1;
	memcpy(to.sun_path + 1, a->socket, n);
	do {
		err = sys3(__NR_connect, fd, (long)&to, (long)(offsetof(struct sockaddr_un, sun_path) + 1 + n));
		ms = ms < LONGEST_MS ? 2 * ms : ms;
	} while (err == -EAGAIN_ && peer_pause(ms, a->patience, mask));	/* anyone's may be full */
	if (!err && peer_trusted(fd, who))
		return fd;
	sys3(__NR_close, fd, 0, 0);
	return -1;
}

static void memories_close(int *memory)
{
	for (int i = 0; i < INJECT_MEMORIES; i++)
		if (memory[i] >= 0)
			sys3(__NR_close, memory[i], 0, 0);
}

/* Returns the bytes of the answer; memory: the descriptors that came with it, or -1. */
static long receive(int fd, struct inject_answer *answer, int *memory)
{
	union { struct cmsghdr head; char room[CMSG_SPACE(INJECT_MEMORIES * sizeof(int))]; } control = { 0 };
	struct iovec iov = { answer, sizeof(*answer) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	long n = sys3(__NR_recvmsg, fd, (long)&m, MSG_CMSG_CLOEXEC);

	if (n < 0 || m.msg_controllen < CMSG_LEN(sizeof(int)) || control.head.cmsg_level != SOL_SOCKET ||
	    control.head.cmsg_type != SCM_RIGHTS)
		return n;
	for (int i = 0; i < INJECT_MEMORIES && control.head.cmsg_len >= CMSG_LEN((i + 1) * sizeof(int)); i++)
		memory[i] = ((int *)CMSG_DATA(&control.head))[i];
	return n;
}

/* Set once: other threads read it. */
static void python_learn(struct injected *a, const struct python_process *p)
{
	if (a->python.runtime || a->python.loss || (!p->runtime && !p->loss))
		return;
	memcpy(&a->python.loss, &p->loss, sizeof(*p) - offsetof(struct python_process, loss));
	__atomic_store_n(&a->python.runtime, p->runtime, __ATOMIC_RELEASE);
	__atomic_fetch_or(&a->marks, INJECT_PYTHON, __ATOMIC_RELAXED);
}

/* Sends a message and awaits the answer.  Returns false if there is none, or it is invalid. */
static bool ask(struct injected *a, struct inject_message_head *m, const char *text,
		struct inject_answer *answer, int *memory, const __u64 *mask)
{
	struct iovec iov[2] = { { m, sizeof(*m) }, { (void *)text, m->size } };
	struct msghdr out = { .msg_iov = iov, .msg_iovlen = 2 };
	struct ucred who;
	int fd = tool_open(a, &who, mask);
	bool ok;

	if (fd < 0) {
		a->silent = true;
		return false;
	}
	m->version = INJECT_VERSION;
	m->pid = (int)sys3(__NR_getpid, 0, 0, 0);
	ok = sys3(__NR_sendmsg, fd, (long)&out, MSG_NOSIGNAL) > 0 && peer_await(fd, who.pid, a->patience, mask) &&
	     receive(fd, answer, memory) == sizeof(*answer) && answer->version == INJECT_VERSION;
	a->silent = !ok;
	if (ok) {
		*a->patience = PATIENCE_NS;
		a->uid = answer->uid;
		memcpy(a->comm, answer->comm, sizeof(a->comm));
		python_learn(a, &answer->python);
	}
	/* with Yama, this includes the tool's descendants */
	if (ok && answer->leave && who.pid > 0 && (m->kind == INJECT_HELLO || m->kind == INJECT_FORKED))
		sys3(__NR_prctl, PR_SET_PTRACER, who.pid, 0);
	sys3(__NR_close, fd, 0, 0);
	return ok;
}

/* No signal handler of the program may run while state is incomplete. */
static bool asked(struct injected *a, struct inject_message_head *m, const char *text, struct inject_answer *answer, int *memory)
{
	__u64 before, mask;
	bool ok;

	for (int i = 0; i < INJECT_MEMORIES; i++)
		memory[i] = -1;
	if (a->marks & INJECT_FILTERED)
		return false;
	before = signals_block();
	mask = inject_here.blocked ? inject_here.signals : before;
	ok = ask(a, m, text, answer, memory, &mask);
	signals_restore(before);
	return ok;
}

bool connect_hello(struct injected *a)
{
	struct inject_message_head m = { .kind = INJECT_HELLO };
	struct inject_answer answer;
	int memory[INJECT_MEMORIES];
	bool ok;

	ok = asked(a, &m, NULL, &answer, memory) && answer.pid > 0;
	for (int i = 0; i < INJECT_MEMORIES; i++)
		ok = ok && memory[i] >= 0;
	a->own = m.pid;
	a->pid = answer.pid;
	ok = ok && memory_map(a, memory, answer.bytes);
	memories_close(memory);
	a->connection = ok ? CONNECTED : REFUSED;
	return ok;
}

bool connect_forked(struct injected *a, int parent)
{
	struct inject_message_head m = { .kind = INJECT_FORKED, .parent = parent };
	struct inject_answer answer;
	int memory[INJECT_MEMORIES];
	bool ok = asked(a, &m, NULL, &answer, memory) && answer.pid > 0 && memory[INJECT_SHARED] >= 0 &&
		  memory_map_forked(a, memory[INJECT_SHARED], answer.bytes);

	memories_close(memory);
	a->own = m.pid;
	if (ok)
		a->pid = answer.pid;
	return ok;
}

static void tell(struct injected *a, struct inject_message_head *m, const char *text, unsigned long n)
{
	struct inject_answer answer;
	int memory[INJECT_MEMORIES];

	m->size = (__u32)(n < INJECT_PATH ? n : INJECT_PATH);
	asked(a, m, text, &answer, memory);
	memories_close(memory);
}

void connect_bound(struct injected *a, const char *path, __u32 functions)
{
	struct inject_message_head m = { .kind = INJECT_BOUND, .functions = functions };

	tell(a, &m, path, length(path));
}

void connect_changed(struct injected *a)
{
	struct inject_message_head m = { .kind = INJECT_CHANGED };

	tell(a, &m, NULL, 0);
}

void connect_says(struct injected *a, const char *name, const char *why)
{
	struct inject_message_head m = { .kind = INJECT_SAYS };
	unsigned long n = length(name), more = length(why);

	if (n > sizeof(a->text) / 2)
		n = sizeof(a->text) / 2;
	if (n + 2 + more > sizeof(a->text))
		return;
	memmove(a->text, name, n);	/* name may be in text */
	memcpy(a->text + n, ": ", 2);
	memcpy(a->text + n + 2, why, more);
	tell(a, &m, a->text, n + 2 + more);
}

/* ---- objects that the program loads and unloads */

/* A program waits at most a quarter of its time when it loads libraries, and half of it when it calls; 250 ms and half a second
 * are free. */
enum { LOADING = 4, CALLING = 2 };
static const __u64 MOST_NS = 1000 * 1000000ull;

static bool may_wait(struct inject_waits *w, __u64 now)
{
	__u64 passed = now - w->at;

	w->owed = w->owed > passed ? w->owed - passed : 0;
	w->at = now;
	return w->owed < MOST_NS;
}

static void changes_send(struct injected *a, struct inject_waits *w, __u64 parts)
{
	__u64 began = inject_clock_ns();

	if (!may_wait(w, began) || !__atomic_exchange_n(&a->changes, false, __ATOMIC_ACQ_REL))
		return;
	connect_changed(a);
	w->owed += parts * (inject_clock_ns() - began);
}

/* Return true if the file was made or renamed while the program ran: such files are often deleted soon. */
static bool is_young(const struct injected *a, const char *path)
{
	struct stat st;

	return *path && !sys4(__NR_newfstatat, AT_FDCWD, (long)path, (long)&st, 0) && (__s64)st.st_ctime >= a->started;
}

void changes_note(struct injected *a, const char *path)
{
	a->changes = true;
	if (a->connection == CONNECTED && !(a->marks & INJECT_FILTERED) && environment_filters(a->text) > a->filters)
		a->marks |= INJECT_FILTERED;
	if (a->settled && is_young(a, path))
		a->hurry = true;
}

/* All objects are loaded that come with the first CUDA library. */
static void settle(struct injected *a)
{
	a->settled = true;
	a->changes = false;
	connect_bound(a, "", 0);
}

/* A forked process has to connect first. */
void changes_tell_loaded(struct injected *a)
{
	if (!a->settled)
		settle(a);
	else if (a->hurry && a->changes && a->page->state == READY)
		changes_send(a, &a->loading, LOADING);
	a->hurry = false;
}

void changes_tell(struct injected *a)
{
	changes_send(a, &a->calling, CALLING);
}
