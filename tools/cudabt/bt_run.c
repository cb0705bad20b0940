/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/escape.h"
#include "cli/out.h"
#include "cudabt/bt_run.h"

/* What happens between fork() and bpftrace. */

void bt_exec_find(void)
{
	char *path = xstrdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin"), *rest = path, *dir;
	bool found = false;

	while (!found && (dir = strsep(&rest, ":"))) {
		char *file = xprintf("%s/bpftrace", *dir ? dir : ".");

		found = !access(file, X_OK);
		free(file);
	}
	free(path);
	if (!found)
		die(0, "bpftrace not found: install it (package bpftrace in Debian, Ubuntu and Fedora), or "
		    "run the output of --emit on a machine that has it");
}

static void more_probes(const char *limit, int probes)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", probes);
	setenv(limit, number, 0);
}

/* bpftrace has renamed it: either name does for all versions. */
static void either_name(const char *one, const char *other)
{
	const char *value = getenv(one);

	if (value)
		setenv(other, value, 0);
}

_Noreturn void bt_exec(const struct bt_exec *e)
{
	/* its own process group, so that it gets Ctrl-C once, from us */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != e->parent)
		_exit(EXIT_FAILURE);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	if (e->probes > BT_EXEC_PROBES) {
		more_probes("BPFTRACE_MAX_PROBES", e->probes);
		more_probes("BPFTRACE_MAX_BPF_PROGS", e->probes);
	}
	either_name("BPFTRACE_MAP_KEYS_MAX", "BPFTRACE_MAX_MAP_KEYS");
	either_name("BPFTRACE_MAX_MAP_KEYS", "BPFTRACE_MAP_KEYS_MAX");
	if (!bt_trap_set(e->trap, !e->names)) {
		warning(errno, "cannot watch over bpftrace's system calls");
		_exit(EXIT_FAILURE);
	}
	if (dup2(e->script, 0) == 0 && dup2(e->output, 1) == 1)
		execlp("bpftrace", "bpftrace", "-q", "-f", e->json ? "json" : "text", "-", (char *)NULL);
	warning(errno, "cannot run bpftrace");
	_exit(EXIT_FAILURE);
}

/* Passes bpftrace's output on to standard output, escaped: it contains raw strings of the traced
 * programs, which a terminal would act on. */

/* Returns the end of a pipe for bpftrace to print to; close it once bpftrace has it. */
static int bt_output_open(struct bt_output *o, bool json)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) || fcntl(ends[0], F_SETFL, O_NONBLOCK))
		die(errno, "cannot create a pipe");
	o->from = ends[0];
	o->open = true;
	o->json = json;
	return ends[1];
}

/* bpftrace 0.17 writes the byte C3 in JSON as \uffffffc3: turns n bytes at s into what was meant, and
 * returns how many these are.  No character of its own begins with \uffffff. */
static size_t join_bytes(char *s, size_t n)
{
	static const char begin[] = "\\uffffff";
	size_t len = sizeof(begin) - 1, to = 0, from = 0;
	unsigned byte;

	while (from < n) {
		if (n - from >= len + 2 && !memcmp(s + from, begin, len) &&
		    sscanf(s + from + len, "%2x", &byte) == 1 && byte >= 0x80) {
			s[to++] = byte;
			from += len + 2;
			continue;
		}
		if (s[from] == '\\' && n - from > 1)	/* what is escaped begins nothing */
			s[to++] = s[from++];
		s[to++] = s[from++];
	}
	return to;
}

static void print_line(struct bt_output *o, char *line, size_t n)
{
	char next = line[n];
	size_t size;

	if (*line == '\n' && !o->within) {
		o->blank = o->printed;
		return;
	}
	if (o->blank && !o->json)
		putchar('\n');
	o->blank = false;
	o->printed = true;
	o->within = line[n - 1] != '\n';
	size = o->json ? join_bytes(line, n) : n;
	line[size] = 0;
	escape_lines(stdout, line, size, o->json);
	line[n] = next;
}

static void print(struct bt_output *o, size_t n)
{
	char *line = o->kept, *end = o->kept + n, *newline;

	for (; line < end; line = newline + 1) {
		newline = memchr(line, '\n', end - line);
		if (!newline)
			newline = end - 1;
		print_line(o, line, newline + 1 - line);
	}
	o->nkept -= n;
	memmove(o->kept, o->kept + n, o->nkept);
}

/* Prints whole lines, or part of one if the buffer is full. */
static void print_lines(struct bt_output *o)
{
	const char *end = memrchr(o->kept, '\n', o->nkept);

	if (end)
		print(o, end + 1 - o->kept);
	else if (o->nkept == BT_LINE)
		print(o, o->nkept);
}

/* Passes on what is available, in whole lines, of several empty ones in a row one, and those at the start
 * and the end not at all: bpftrace prints some for each empty map.  In JSON none is an object.  Call every few milliseconds.  If our output blocks,
 * the rest stays in the pipe. */
static void bt_output_copy(struct bt_output *o)
{
	ssize_t n = 0;

	while (o->open && !out_is_held_up()) {
		n = read(o->from, o->kept + o->nkept, BT_LINE - o->nkept);
		if (n <= 0)
			break;
		o->nkept += n;
		print_lines(o);
	}
	/* nobody reads our output any more: let bpftrace notice */
	if (o->open && !out_flush()) {
		close(o->from);
		o->open = false;
	}
}

/* Call when bpftrace has ended: passes on all that is left, or warns that our output is not
 * read. */
static void bt_output_finish(struct bt_output *o)
{
	int left = 0;

	bt_output_copy(o);
	if (o->open && !ioctl(o->from, FIONREAD, &left) && left)
		warning(0, "standard output is not being read: discarded the last output of bpftrace");
	print(o, o->nkept);
	out_flush();
}

#define NS_PER_MS 1000000ull
enum { PAUSE_MS = 20, IDLE_MS = 60, MISSED_MS = 400, BACKLOG_MS = 10000, HELD_UP_MS = 1000 };

static int memory_file(const char *text, size_t len)
{
	int fd = memfd_create("script", MFD_CLOEXEC);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET))
		die(errno, "cannot pass the script to bpftrace");
	return fd;
}

void bt_run_start(struct bt_run *r, const struct bt_script *s, const struct bt_files *files, bool json,
		  bool names)
{
	struct bt_exec e = { .probes = s->nprobes, .json = json, .names = names, .parent = getpid() };
	int ends[2];

	e.script = memory_file(s->out, s->out_len);
	e.output = bt_output_open(&r->output, json);
	r->uprobes = bt_uprobes_new(files, s->files, s->nfiles);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		die(errno, "cannot create a socket");
	e.trap = ends[1];
	fflush(stdout);
	r->child = fork();
	if (r->child < 0)
		die(errno, "cannot fork");
	if (!r->child)
		bt_exec(&e);
	close(e.script);
	close(e.output);
	close(e.trap);
	r->trap = bt_trap_receive(ends[0]);	/* -1: it ends */
	close(ends[0]);
}

bool bt_run_started(const struct bt_run *r)
{
	return r->child > 0;
}

bool bt_run_ended(struct bt_run *r)
{
	if (r->child > 0 && !r->ended && waitpid(r->child, &r->status, WNOHANG) == r->child)
		r->ended = true;
	return r->ended;
}

void bt_run_tend(struct bt_run *r, int ms)
{
	unsigned long long now = clock_ns(), end = now + ms * NS_PER_MS;
	struct seccomp_notif call;

	do {
		int left = (end - now + NS_PER_MS - 1) / NS_PER_MS;

		if (!bt_trap_next(r->trap, left, &call))
			;
		else if (call.data.nr == SYS_openat)
			bt_maps_answer(r->trap, &call, &r->said);
		else
			bt_uprobes_answer(&r->uprobes, r->trap, &call);
		now = clock_ns();
	} while (now < end);
	bt_output_copy(&r->output);
}

bool bt_run_waits(const struct bt_run *r)
{
	char name[32];
	long call = -1;		/* running, or gone */
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/syscall", r->child);
	f = fopen(name, "re");
	if (!f)
		die(errno, "cannot open %s", name);
	if (fscanf(f, "%ld", &call) != 1)
		call = -1;
	fclose(f);
	return call == SYS_epoll_wait || call == SYS_epoll_pwait;
}

/* Return true once it has been waiting for ms; give up after limit_ms or when it has ended. */
static bool seen_waiting(struct bt_run *r, int ms, int limit_ms)
{
	int waited = 0;

	for (int t = 0; waited < ms && t < limit_ms && !bt_run_ended(r); t += PAUSE_MS) {
		bt_run_tend(r, PAUSE_MS);
		if (out_is_held_up() && t > HELD_UP_MS)
			break;
		waited = bt_run_waits(r) ? waited + PAUSE_MS : 0;
	}
	return waited >= ms;
}

/* Its output is not being read, and it waits to print more: do not wait for it. */
static void give_up(struct bt_run *r)
{
	if (bt_run_ended(r) || !out_is_held_up())	/* its pid may be reused by now */
		return;
	kill(r->child, SIGKILL);
}

/* When asked to end, bpftrace 0.17 drops what it has not read yet.  It checks for the request only
 * when its wait is interrupted, so it may miss it.  Once it has begun to end, a second request
 * would end it before it has printed its maps; it then waits for no longer than 100 ms. */
int bt_run_finish(struct bt_run *r)
{
	seen_waiting(r, IDLE_MS, BACKLOG_MS);
	while (!bt_run_ended(r)) {
		kill(r->child, SIGINT);
		while (!bt_run_ended(r) && !seen_waiting(r, MISSED_MS, BACKLOG_MS))
			give_up(r);
	}
	bt_output_finish(&r->output);
	close(r->trap);
	if (!WIFSIGNALED(r->status))
		return WEXITSTATUS(r->status);
	return WTERMSIG(r->status) == SIGPIPE ? 0 : 128 + WTERMSIG(r->status);
}
