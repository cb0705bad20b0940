/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "cudabt/bt_exec.h"
#include "cudabt/bt_trap.h"
#include "base/die.h"

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
