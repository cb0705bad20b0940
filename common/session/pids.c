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

struct pids pids_open(const char *list)
{
	struct pids p = { .pids = parse_pids(list) };
	int n = 0;

	while (p.pids[n])
		n++;
	p.fds = xcalloc(n, sizeof(*p.fds));
	for (int i = 0; i < n; i++)
		p.fds[i] = open_pid(p.pids[i]);
	return p;
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
