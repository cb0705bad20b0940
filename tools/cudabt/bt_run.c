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
#include "machine/syscalls.h"

#define NS_PER_MS 1000000ull
enum { PAUSE_MS = 20, IDLE_MS = 60, MISSED_MS = 400, BACKLOG_MS = 10000, HELD_UP_MS = 1000 };

/* For the child between fork() and exec. */
struct bt_exec {
	int script, output;	/* its standard input and output */
	int trap;		/* the socket for bt_trap_install() */
	int probes;
	bool json;
	bool names;		/* of functions on stacks of any process */
	pid_t parent;
};

void bt_run_find(void)
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

static void raise_limit(const char *limit, int probes)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", probes);
	setenv(limit, number, 0);
}

/* bpftrace has renamed the variable: set both names. */
static void copy_variable(const char *one, const char *other)
{
	const char *value = getenv(one);

	if (value)
		setenv(other, value, 0);
}

/* Becomes bpftrace, which ends when the parent does. */
static _Noreturn void bt_exec(const struct bt_exec *e)
{
	/* its own process group, so that it gets Ctrl-C once, from us */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != e->parent)
		_exit(EXIT_FAILURE);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	if (e->probes > BT_MAX_PROBES) {
		raise_limit("BPFTRACE_MAX_PROBES", e->probes);
		raise_limit("BPFTRACE_MAX_BPF_PROGS", e->probes);
	}
	copy_variable("BPFTRACE_MAP_KEYS_MAX", "BPFTRACE_MAX_MAP_KEYS");
	copy_variable("BPFTRACE_MAX_MAP_KEYS", "BPFTRACE_MAP_KEYS_MAX");
	if (!bt_trap_install(e->trap, !e->names)) {
		warning(errno, "cannot install a seccomp listener");
		_exit(EXIT_FAILURE);
	}
	if (dup2(e->script, 0) == 0 && dup2(e->output, 1) == 1)
		execlp("bpftrace", "bpftrace", "-q", "-f", e->json ? "json" : "text", "-", (char *)NULL);
	warning(errno, "cannot run bpftrace");
	_exit(EXIT_FAILURE);
}

/* Returns the write end of a pipe for bpftrace; close it once bpftrace has it. */
static int open_output(struct bt_output *o, bool json)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) || fcntl(ends[0], F_SETFL, O_NONBLOCK))
		die(errno, "cannot create a pipe");
	o->from = ends[0];
	o->open = true;
	o->json = json;
	return ends[1];
}

/* In JSON, bpftrace 0.17 writes the byte C3 as \uffffffc3: restores such bytes in the n bytes at s and
 * returns the new number.  No other character begins with \uffffff. */
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
		if (s[from] == '\\' && n - from > 1)	/* an escaped character begins nothing */
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

static void bt_run_print(struct bt_output *o, size_t n)
{
	char *line = o->buffer, *end = o->buffer + n, *newline;

	for (; line < end; line = newline + 1) {
		newline = memchr(line, '\n', end - line);
		if (!newline)
			newline = end - 1;
		print_line(o, line, newline + 1 - line);
	}
	o->nbuffer -= n;
	memmove(o->buffer, o->buffer + n, o->nbuffer);
}

/* Prints whole lines, or part of one if the buffer is full. */
static void print_lines(struct bt_output *o)
{
	const char *end = memrchr(o->buffer, '\n', o->nbuffer);

	if (end)
		bt_run_print(o, end + 1 - o->buffer);
	else if (o->nbuffer == BT_LINE)
		bt_run_print(o, o->nbuffer);
}

/* Prints the available whole lines.  bpftrace prints empty lines for each empty map: several in a row become
 * one in text, none in JSON; none at the start and the end.  If our output blocks, the rest stays in the
 * pipe. */
static void copy_output(struct bt_output *o)
{
	ssize_t n = 0;

	while (o->open && !out_is_held_up()) {
		n = read(o->from, o->buffer + o->nbuffer, BT_LINE - o->nbuffer);
		if (n <= 0)
			break;
		o->nbuffer += n;
		print_lines(o);
	}
	/* our output is closed: bpftrace must get SIGPIPE */
	if (o->open && !out_flush()) {
		close(o->from);
		o->open = false;
	}
}

/* Call when bpftrace has ended: prints the rest, or warns that our output is not read. */
static void finish_output(struct bt_output *o)
{
	int unread = 0;

	copy_output(o);
	if (o->open && !ioctl(o->from, FIONREAD, &unread) && unread)
		warning(0, "standard output is not being read: discarded the last output of bpftrace");
	bt_run_print(o, o->nbuffer);
	out_flush();
}

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
	e.output = open_output(&r->output, json);
	r->trap = bt_trap_init(files, s->files, s->nfiles);
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
	r->trap.fd = bt_trap_receive(ends[0]);	/* -1: it ends */
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

void bt_run_serve(struct bt_run *r, int ms)
{
	unsigned long long now = clock_ns(), end = now + ms * NS_PER_MS;

	do {
		bt_trap_answer(&r->trap, (end - now + NS_PER_MS - 1) / NS_PER_MS);
		now = clock_ns();
	} while (now < end);
	copy_output(&r->output);
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
	return machine_epoll_wait(call);
}

/* Return true once it has waited for ms; false after limit_ms or when it has ended. */
static bool wait_idle(struct bt_run *r, int ms, int limit_ms)
{
	int waited = 0;

	for (int t = 0; waited < ms && t < limit_ms && !bt_run_ended(r); t += PAUSE_MS) {
		bt_run_serve(r, PAUSE_MS);
		if (out_is_held_up() && t > HELD_UP_MS)
			break;
		waited = bt_run_waits(r) ? waited + PAUSE_MS : 0;
	}
	return waited >= ms;
}

/* If the tool's output is not read, bpftrace may hang in a write. */
static void kill_if_held_up(struct bt_run *r)
{
	if (!bt_run_ended(r) && out_is_held_up())	/* else its pid may be reused */
		kill(r->child, SIGKILL);
}

/* On SIGINT, bpftrace 0.17 drops events that it has not read, so first wait until it is idle.  It checks
 * for the signal only when its wait is interrupted, so it may miss it; but while it ends, a second signal
 * would kill it before it prints its maps.  It then never waits longer than 100 ms. */
int bt_run_finish(struct bt_run *r)
{
	wait_idle(r, IDLE_MS, BACKLOG_MS);
	while (!bt_run_ended(r)) {
		kill(r->child, SIGINT);
		while (!bt_run_ended(r) && !wait_idle(r, MISSED_MS, BACKLOG_MS))
			kill_if_held_up(r);
	}
	finish_output(&r->output);
	close(r->trap.fd);
	if (!WIFSIGNALED(r->status))
		return WEXITSTATUS(r->status);
	return WTERMSIG(r->status) == SIGPIPE ? 0 : 128 + WTERMSIG(r->status);
}
