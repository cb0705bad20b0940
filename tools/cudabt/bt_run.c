/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cudabt/bt_run.h"
#include "base/die.h"
#include "cli/out.h"

enum { PAUSE_MS = 20, IDLE_MS = 60, MISSED_MS = 400, BACKLOG_MS = 10000, HELD_UP_MS = 1000 };

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

static void more_probes(const char *limit, int probes)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", probes);
	setenv(limit, number, 0);
}

static _Noreturn void run(int script, int output, int probes, bool json, pid_t parent)
{
	const char *format = json ? "json" : "text";

	/* its own process group, so that it gets Ctrl-C once, from us */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	if (probes > BT_RUN_PROBES) {
		more_probes("BPFTRACE_MAX_PROBES", probes);
		more_probes("BPFTRACE_MAX_BPF_PROGS", probes);
	}
	if (dup2(script, 0) == 0 && dup2(output, 1) == 1)
		execlp("bpftrace", "bpftrace", "-q", "-f", format, "-", (char *)NULL);
	warning(errno, "cannot run bpftrace");
	_exit(EXIT_FAILURE);
}

void bt_run_start(struct bt_run *r, const char *script, size_t len, int probes, bool json)
{
	pid_t parent = getpid();
	int fd = memfd_create("script", MFD_CLOEXEC), output = bt_output_open(&r->output, json);

	if (fd < 0 || write(fd, script, len) != (ssize_t)len || lseek(fd, 0, SEEK_SET))
		die(errno, "cannot pass the script to bpftrace");
	fflush(stdout);
	r->child = fork();
	if (r->child < 0)
		die(errno, "cannot fork");
	if (!r->child)
		run(fd, output, probes, json, parent);
	close(fd);
	close(output);
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
	const struct timespec pause = { 0, PAUSE_MS * 1000000 };
	int waited = 0;

	for (int t = 0; waited < ms && t < limit_ms && !bt_run_ended(r); t += PAUSE_MS) {
		nanosleep(&pause, NULL);
		bt_output_copy(&r->output);
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
	if (!WIFSIGNALED(r->status))
		return WEXITSTATUS(r->status);
	return WTERMSIG(r->status) == SIGPIPE ? 0 : 128 + WTERMSIG(r->status);
}
