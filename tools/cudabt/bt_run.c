/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cudabt/bt_exec.h"
#include "cudabt/bt_maps.h"
#include "cudabt/bt_run.h"
#include "cudabt/bt_trap.h"
#include "base/clock.h"
#include "base/die.h"
#include "cli/out.h"

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
