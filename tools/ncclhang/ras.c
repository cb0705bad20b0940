/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "ncclhang/ras.h"
#include "ncclhang/ras_connect.h"
#include "ncclhang/ras_read.h"
#include "proc/confine.h"
#include "proc/helper.h"
#include "proc/proc_root.h"

enum {
	MS = 1000000,		/* in ns */
	START_MS = 1000,	/* of the helper process, and until its answer has come */
	END_MS = 200,		/* of the helper process */
	ANSWER_MAX = 16 << 20,
	HELPER_MEMORY = 220 << 20,	/* jansson's objects for 16 MiB of text */
	CPU_SECONDS = 10,
	TRIES = 8,		/* for an answer of the process's job, if two jobs share the port */
};

struct question {
	int pid;
	unsigned timeout_ms;
	char address[RAS_ADDRESS_SIZE];	/* "" = find out */
};

struct answer {
	char *bytes;		/* and a '\0' */
	size_t size, room;
};

/* ---- in the helper process */

/* Only what follows in this process is allowed.  AddressSanitizer needs more. */
static bool confine(void)
{
	bool ok = !confine_rights() && !prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifndef __SANITIZE_ADDRESS__
	static const int calls[] = {
		SYS_socket, SYS_bind, SYS_connect, SYS_getsockopt, SYS_ppoll, SYS_sendto, SYS_sendmsg, SYS_recvfrom, SYS_recvmsg,
		SYS_close, SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_madvise, SYS_clock_gettime, SYS_futex, SYS_getrandom,
		SYS_write, SYS_exit, SYS_exit_group, SYS_rt_sigreturn, SYS_restart_syscall,
#ifdef SYS_poll
		SYS_poll,
#endif
	};

	ok = ok && confine_calls(calls, sizeof(calls) / sizeof(*calls));
#endif
	return ok;
}

/* Receives what there is.  Returns its size, 0 at the end, -errno. */
static ssize_t receive(int fd, struct answer *a)
{
	ssize_t n;

	if (a->room - a->size < 2) {
		a->room = a->room ? 2 * a->room : 1 << 16;
		a->bytes = xrealloc(a->bytes, a->room, 1);
	}
	n = recv(fd, a->bytes + a->size, a->room - a->size - 1, MSG_DONTWAIT);
	if (n < 0)
		return -errno;
	a->size += n;
	a->bytes[a->size] = '\0';
	return n;
}

static const char greeting[] = "SERVER PROTOCOL ";

static bool is_greeting(const struct answer *a)
{
	size_t n = a->size < strlen(greeting) ? a->size : strlen(greeting);

	return !memcmp(a->bytes, greeting, n);
}

/* The server closes the connection when it has sent all. */
static enum ras_result receive_all(int fd, struct answer *a, unsigned long long end)
{
	ssize_t n;

	do {
		if (!ras_wait(fd, POLLIN, end))
			return RAS_TIMED_OUT;
		n = receive(fd, a);
		if (n < 0 && n != -EINTR && n != -EAGAIN)
			return RAS_UNKNOWN_FORM;
		if (a->size > ANSWER_MAX)
			return RAS_TOO_LARGE;
		if (n > 0 && !is_greeting(a))
			return RAS_UNKNOWN_FORM;
	} while (n && clock_ns() < end);
	return n ? RAS_TIMED_OUT : RAS_OK;
}

/* The commands are those of ncclras (src/ras/client.cc). */
static enum ras_result send_commands(int fd, unsigned timeout_ms, bool json)
{
	unsigned seconds = timeout_ms / 2000;
	char text[128];
	int size = snprintf(text, sizeof(text), "CLIENT PROTOCOL 2\nTIMEOUT %u\nSET FORMAT %s\nVERBOSE STATUS\n",
			    seconds ? seconds : 1, json ? "json" : "text");	/* 0 would be without limit */

	return send(fd, text, size, MSG_NOSIGNAL) == size ? RAS_OK : RAS_UNKNOWN_FORM;
}

/* Moves *at behind a line that starts like this.  Return false if it is another one. */
static bool skip_line(char **at, const char *start)
{
	char *end = strchr(*at, '\n');

	if (!end || strncmp(*at, start, strlen(start)))
		return false;
	*at = end + 1;
	return true;
}

/* The answers to the first three commands, and then the status.  What knows no formats is older, and answers text. */
static bool read_answer(struct answer *a, struct ras *r, bool json)
{
	char *at = a->bytes;
	bool formats;

	if (!at || !skip_line(&at, greeting) || !skip_line(&at, "OK\n"))
		return false;
	formats = skip_line(&at, "OK\n");
	if (!formats && !skip_line(&at, "ERROR: Unknown command "))
		return false;
	json = json && formats;
	return (json ? ras_read_json : ras_read_text)(at, a->bytes + a->size - at, r);
}

/* pid: as the process itself has it. */
static bool has_process(const struct ras *r, int pid)
{
	for (int i = 0; i < r->ncomms; i++)
		for (int k = 0; k < r->comms[i].nranks; k++)
			if (r->comms[i].ranks[k].pid == pid)
				return true;
	return false;
}

static void fail(struct ras *r, enum ras_result result, int err)
{
	struct ras failed = { .result = result, .err = err };

	memcpy(failed.version, r->version, sizeof(failed.version));
	ras_free(r);
	*r = failed;
}

static enum ras_result result_of(int err)
{
	return err == ETIMEDOUT ? RAS_TIMED_OUT : err == EADDRNOTAVAIL ? RAS_BAD_ADDRESS : RAS_REFUSED;
}

static void ask_once(struct ras *r, const struct ras_endpoints *to, unsigned timeout_ms, unsigned long long end, bool json)
{
	int fd = ras_connect(to, end);
	struct answer a = { NULL, 0, 0 };
	enum ras_result result;

	if (fd < 0) {
		fail(r, result_of(-fd), -fd);
		return;
	}
	result = send_commands(fd, timeout_ms, json);
	if (result == RAS_OK)
		result = receive_all(fd, &a, end);
	close(fd);
	/* also for the version, as far as the answer came */
	if (result != RAS_TOO_LARGE && !read_answer(&a, r, json) && result == RAS_OK)
		result = RAS_UNKNOWN_FORM;
	if (result != RAS_OK)
		fail(r, result, 0);
	free(a.bytes);
}

static void ask(const struct question *q, struct ras *r)
{
	unsigned long long began = clock_ns(), ns = q->timeout_ms * (unsigned long long)MS, end = began + ns;
	int inner = proc_inner_pid(q->pid), err = inner ? ras_enter(q->pid) : ESRCH;
	struct ras_endpoints to = { .n = 0 };
	char address[RAS_ADDRESS_SIZE];

	snprintf(address, sizeof(address), "%s", q->address);
	if (!*address)
		ras_find_address(q->pid, address);
	json_object_seed(0);	/* reads a file at its first use */
	if (err)
		fail(r, err == ESRCH || err == ENOENT ? RAS_GONE : RAS_NO_NAMESPACE, err);
	else if (!ras_parse_address(address, &to))
		fail(r, RAS_BAD_ADDRESS, 0);
	else if (!confine())
		fail(r, RAS_FAILED, errno);
	for (int i = 0; !r->result && !r->has_process && !r->text && i < TRIES && (!i || clock_ns() < began + ns / 2); i++) {
		struct ras next = { 0 };

		ask_once(&next, &to, q->timeout_ms, end, true);
		if (next.result == RAS_TOO_LARGE) {	/* text is shorter: it names few ranks */
			ras_free(&next);
			ask_once(&next, &to, q->timeout_ms, end, false);
		}
		if (i && next.result)	/* what was answered before is better */
			break;
		ras_free(r);
		*r = next;
		r->has_process = has_process(r, inner);
	}
}

static void ask_helper(struct helper_job *job)
{
	struct ras r = { 0 };
	size_t nranks = 0;

	helper_limit_cpu(CPU_SECONDS);
	ask(job->in, &r);
	for (int i = 0; i < r.ncomms; i++)
		nranks += r.comms[i].nranks;
	helper_put(job, &r, sizeof(r));
	helper_put(job, r.comms, r.ncomms * sizeof(*r.comms));
	helper_put(job, r.processes, r.nprocesses * sizeof(*r.processes));
	helper_put(job, r.ranks, nranks * sizeof(*r.ranks));
	ras_free(&r);
}

/* ---- in the tool: also the helper process is not trusted, once it has read the answer */

static bool is_bool(const bool *b)
{
	return *(const unsigned char *)b <= 1;
}

static bool is_string(const char *s, size_t size)
{
	return memchr(s, '\0', size);
}

static bool is_head(const struct ras *r)
{
	return (unsigned)r->result < RAS_RESULTS && is_string(r->version, sizeof(r->version)) && is_bool(&r->text) &&
	       is_bool(&r->garbled) && is_bool(&r->has_process) && r->ncomms >= 0 && r->ncomms <= RAS_COMMS_MAX &&
	       r->nprocesses >= 0 && r->nprocesses <= RAS_PROCESSES_MAX;
}

/* Copies n elements from *from, and moves it. */
static void *copy(const char **from, size_t n, size_t size)
{
	void *to = xcalloc(n + 1, size);

	memcpy(to, *from, n * size);
	*from += n * size;
	return to;
}

static bool are_comms(const struct ras *r, size_t *nranks)
{
	*nranks = 0;
	for (int i = 0; i < r->ncomms; i++) {
		if (r->comms[i].nranks < 0 || r->comms[i].nranks > r->comms[i].size)
			return false;
		*nranks += r->comms[i].nranks;
	}
	return *nranks <= RAS_RANKS_MAX;
}

static bool are_ranks(const struct ras *r, size_t nranks)
{
	for (size_t i = 0; i < nranks; i++)
		if ((unsigned)r->ranks[i].state >= RAS_STATES || !is_string(r->ranks[i].host, sizeof(r->ranks[i].host)))
			return false;
	return true;
}

static bool are_processes(const struct ras *r)
{
	for (int i = 0; i < r->nprocesses; i++)
		if (!is_bool(&r->processes[i].dead) || !is_string(r->processes[i].host, sizeof(r->processes[i].host)))
			return false;
	return true;
}

/* Takes the helper's answer into *r.  Return false if it is not of its form. */
static bool ras_take(struct ras *r, const struct helper_answer *a)
{
	const char *from = a->bytes + sizeof(*r);
	size_t nranks, left;

	if (a->size < sizeof(*r))
		return false;
	memcpy(r, a->bytes, sizeof(*r));
	r->comms = NULL;
	r->processes = NULL;
	r->ranks = NULL;
	left = a->size - sizeof(*r);
	if (!is_head(r) || left < r->ncomms * sizeof(*r->comms) + r->nprocesses * sizeof(*r->processes))
		return false;
	r->comms = copy(&from, r->ncomms, sizeof(*r->comms));
	r->processes = copy(&from, r->nprocesses, sizeof(*r->processes));
	if (!are_comms(r, &nranks) || a->bytes + a->size - from != (long)(nranks * sizeof(*r->ranks)))
		return false;
	r->ranks = copy(&from, nranks, sizeof(*r->ranks));
	ras_place_ranks(r);
	return are_ranks(r, nranks) && are_processes(r);
}

static void reap(int pid)
{
	unsigned long long end = clock_ns() + END_MS * (unsigned long long)MS;

	while (pid && !waitpid(pid, NULL, WNOHANG) && clock_ns() < end)
		usleep(1000);
}

enum ras_result ras_ask(struct ras *r, int pid, const char *address, unsigned timeout_ms, bool (*idle)(void *ctx), void *ctx)
{
	struct helper h = { .memory = HELPER_MEMORY, .idle = idle, .ctx = ctx };
	struct question q = { .pid = pid, .timeout_ms = timeout_ms };
	struct helper_answer a = { .fd = -1 };
	int err;

	*r = (struct ras){ .result = RAS_OK };
	if (address && (!*address || strlen(address) >= sizeof(q.address))) {
		r->result = RAS_BAD_ADDRESS;
		return r->result;
	}
	snprintf(q.address, sizeof(q.address), "%s", address ? address : "");
	if (helper_send(&h, ask_helper, &q, sizeof(q), -1))
		err = helper_receive(&h, (long)timeout_ms + START_MS, &a);
	else
		err = h.pid ? -EPIPE : -errno;
	reap(helper_leave(&h));
	if (err == -ECANCELED)
		r->result = RAS_CANCELED;
	else if (err == -ETIME)
		r->result = RAS_TIMED_OUT;
	else if (err || !ras_take(r, &a))
		fail(r, RAS_FAILED, err == -EPIPE ? 0 : -err);
	helper_drop(&a);
	return r->result;
}
