/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The process at the other end of a connection, as the kernel reports it: who it is, and whether
 * it works. */
#define _GNU_SOURCE
#include <stddef.h>
#include <poll.h>
#include <time.h>
#include <sys/socket.h>
#include "agent/inject/inject.h"

/* How long an answer is awaited from a tool that works.  What the tool does is looked at after
 * FIRST_MS, then after twice as long, and so on: thousands of processes may wait. */
enum { ANSWER_MS = 10000, FIRST_MS = 5 };

enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

/* PARENTS: their pids may be reused, and form a ring.  TRACED_LOOKS: a tool counts as stopped if
 * it is traced so many times in a row, as strace stops it at each call. */
enum { PATH = 40, STAT = 512, RUN = 96, PARENTS = 1000, TRACED_LOOKS = 7 };

/* Reads a file of /proc/PID; pid 0: of this process.  Returns the bytes; text ends with 0. */
static unsigned long process_read(int pid, const char *file, char *text, unsigned long size)
{
	char path[PATH] = "/proc/self/", digits[12], *to = path + 6;
	unsigned long n;
	int i = 0;

	for (int left = pid; left > 0; left /= 10)
		digits[i++] = (char)('0' + left % 10);
	while (i)
		*to++ = digits[--i];
	if (pid > 0)
		*to++ = '/';
	else
		to = path + 11;
	memcpy(to, file, length(file) + 1);
	n = sys_read_file(path, text, size - 1);
	text[n] = 0;
	return n;
}

/* Returns what comes after the process's name, which may have anything: " S 1 …", its state and
 * its parent; "" if that cannot be read. */
static const char *stat_read(int pid, char *text)
{
	unsigned long n = process_read(pid, "stat", text, STAT);

	while (n && text[n - 1] != ')')
		n--;
	return n ? text + n : "";
}

/* 0: not known. */
static int parent_of(int pid)
{
	char text[STAT];
	const char *s = stat_read(pid, text);
	unsigned parent;

	return *s && s[1] && users_number(s + 2, &parent) ? (int)parent : 0;
}

static bool is_ancestor(int pid)
{
	int at = 0;

	for (int i = 0; i < PARENTS; i++) {
		at = parent_of(at);
		if (at == pid || at <= 1)
			return at && at == pid;
	}
	return false;
}

static bool is_told_apart(__u32 uid)
{
	struct users now;

	if (uid != injected.users.overflow)
		return true;
	environment_users(&now);	/* the program may have entered a user namespace */
	return users_told_apart(&injected.users, uid) && users_told_apart(&now, uid);
}

bool peer_trusted(int fd, struct ucred *who)
{
	socklen_t n = sizeof(*who);

	if (sys6(__NR_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)who, (long)&n, 0) ||
	    !is_told_apart(who->uid))
		return false;
	if (!who->uid)
		return true;
	return who->uid == (unsigned)sys3(__NR_geteuid, 0, 0, 0) &&
	       (!injected.ancestors || (who->pid > 0 && is_ancestor(who->pid)));
}

/* Any number that changes when the process has run: the kernel counts the time and how often. */
static __u64 run_of(int pid)
{
	char text[RUN];
	unsigned long n = process_read(pid, "schedstat", text, sizeof(text));
	__u64 hash = 0;

	for (unsigned long i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return hash;
}

/* IDLE: it has not run since the last look, or is in another PID namespace. */
enum peer_does { PEER_IDLE, PEER_WORKS, PEER_STOPPED };

struct peer_seen {
	__u64 run;
	int traced;
};

static enum peer_does peer_does(int pid, struct peer_seen *seen)
{
	char text[STAT];
	const char *s = pid > 0 ? stat_read(pid, text) : "";
	char state = *s ? s[1] : 0;
	__u64 run = state ? run_of(pid) : 0, before = seen->run;

	seen->run = run;
	seen->traced = state == 't' ? seen->traced + 1 : 0;
	if (state == 'T' || state == 'Z' || state == 'X' || seen->traced == TRACED_LOOKS)
		return PEER_STOPPED;
	return state == 'R' || state == 'D' || (before && run != before) ? PEER_WORKS : PEER_IDLE;
}

static __u64 now_ns(void)
{
	struct timespec t = { 0 };

	sys3(__NR_clock_gettime, CLOCK_MONOTONIC, (long)&t, 0);
	return (__u64)t.tv_sec * NS_PER_S + (__u64)t.tv_nsec;
}

static void charge(__u64 *patience, __u64 ns)
{
	*patience -= ns < *patience ? ns : *patience;
}

/* Waits for input, if fd is not -1, until that time, ns.  Returns what ppoll(2) does. */
static long wait_until(int fd, __u64 until, const __u64 *mask)
{
	struct pollfd in = { .fd = fd, .events = POLLIN };
	__u64 now = now_ns(), ns = until > now ? until - now : 0;
	struct timespec limit = { (long)(ns / NS_PER_S), (long)(ns % NS_PER_S) };

	return sys6(__NR_ppoll, (long)&in, 1, (long)&limit, (long)mask, sizeof(*mask), 0);
}

bool peer_pause(int ms, __u64 *patience, const __u64 *mask)
{
	__u64 began = now_ns(), ns = (__u64)ms * NS_PER_MS;

	if (!*patience)
		return false;
	wait_until(-1, began + (ns < *patience ? ns : *patience), mask);
	charge(patience, now_ns() - began);
	return true;
}

bool peer_await(int fd, int tool, __u64 *patience, const __u64 *mask)
{
	__u64 began = now_ns(), from = began, ns = FIRST_MS * NS_PER_MS;
	struct peer_seen seen = { 0 };

	while (from - began < (__u64)ANSWER_MS * NS_PER_MS) {
		__u64 now;
		enum peer_does does;

		if (wait_until(fd, from + ns, from > began ? mask : NULL) > 0)
			return true;
		now = now_ns();
		if (now < from + ns)	/* a signal */
			continue;
		does = peer_does(tool, &seen);
		if (does == PEER_IDLE)
			charge(patience, now - from);
		if (does == PEER_STOPPED || (does == PEER_IDLE && !*patience))
			return false;
		from = now;
		ns = does == PEER_IDLE && 2 * ns > *patience ? *patience : 2 * ns;
	}
	return false;
}
