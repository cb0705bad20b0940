/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/die.h"
#include "cli/opt.h"
#include "proc/pid_ns.h"
#include "proc/proc.h"
#include "session/pids.h"

char *pids_hint(int pid)
{
	char *outside = pid_outside(pid), *text;

	if (!outside)
		return xstrdup("");
	text = xprintf("; in a PID namespace (container), process %s has PID %d: use -p %s",
		       outside, pid, outside);
	free(outside);
	return text;
}

static int open_pid(int pid)
{
	int leader = proc_leader(pid);

	if (!leader)
		die(0, "pid %d: %s%s", pid, strerror(ESRCH), pids_hint(pid));
	if (leader != pid)
		die(0, "pid %d is a thread of process %d: use -p %d", pid, leader, leader);
	return syscall(SYS_pidfd_open, pid, 0);
}

/* The processes of a list, while it is read. */
struct reading { int *pids, n; const char *name; bool found; };

static void pids_add(struct reading *r, int pid)
{
	for (int i = 0; i < r->n; i++)
		if (r->pids[i] == pid)
			return;
	r->pids = xrealloc(r->pids, r->n + 2, sizeof(*r->pids));
	r->pids[r->n++] = pid;
	r->pids[r->n] = 0;
}

static void add_named(void *ctx, int pid)
{
	struct reading *r = ctx;
	char comm[16];

	/* the kernel keeps 15 bytes of a name */
	if (pid == getpid() || !proc_comm(pid, comm) || strncmp(comm, r->name, sizeof(comm) - 1))
		return;
	r->found = true;
	pids_add(r, pid);
}

static void add_word(struct reading *r, const char *word)
{
	int pid = value_pid(word);

	if (pid < 0)
		usage_error("--pid: '%s' is not a process id", word);
	if (pid) {
		pids_add(r, pid);
		return;
	}
	r->name = word;
	r->found = false;
	proc_each(add_named, r);
	if (!r->found)
		die(0, "no process is named '%s'", word);
}

struct pids pids_open(const char *list)
{
	char *copy = xstrdup(list), *rest = copy, *word;
	struct reading r = { 0 };
	struct pids p;

	while ((word = value_word(&rest)))
		add_word(&r, word);
	if (!r.n)
		usage_error("--pid: '%s' has no process id or name", list);
	free(copy);
	p = (struct pids){ .pids = r.pids, .fds = xcalloc(r.n, sizeof(*p.fds)) };
	for (int i = 0; i < r.n; i++)
		p.fds[i] = open_pid(p.pids[i]);
	return p;
}

char *pids_text(const struct pids *p)
{
	char *text = xprintf("pid %d", *p->pids);

	for (int i = 1; p->pids[i]; i++) {
		char *longer = xprintf("%s,%d", text, p->pids[i]);

		free(text);
		text = longer;
	}
	return text;
}

bool pid_ended(const struct pids *p, int i)
{
	struct pollfd fd = { .fd = p->fds[i], .events = POLLIN };

	if (p->fds[i] < 0)
		return kill(p->pids[i], 0) && errno != EPERM;
	return poll(&fd, 1, 0);
}

bool pids_ended(const struct pids *p)
{
	for (int i = 0; p->pids[i]; i++)
		if (!pid_ended(p, i))
			return false;
	return true;
}
