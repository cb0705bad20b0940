/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/die.h"
#include "base/hash.h"
#include "proc/proc.h"
#include "session/inject_peers.h"
#include "session/inject_signal.h"

/* Parents between a process and the command: their numbers may be others' by now, and form a ring. */
enum { DEPTH = 1000 };

struct process {
	int pid, parent;
	int fd;			/* of those that are meant, else -1 */
	UT_hash_handle hh;
};

static void add(void *ctx, int pid)
{
	struct process **all = ctx, *at = xcalloc(1, sizeof(*at));

	at->pid = pid;
	at->fd = -1;
	at->parent = proc_parent(pid);
	HASH_ADD_INT(*all, pid, at);
}

static bool descends(struct process *all, const struct process *at, int root)
{
	for (int i = 0; at && i < DEPTH; i++) {
		int parent = at->parent;

		if (at->pid == root)
			return true;
		HASH_FIND_INT(all, &parent, at);
	}
	return false;
}

/* Its number may be another's by now: then it has another parent. */
static int open_process(const struct process *at)
{
	int fd = syscall(SYS_pidfd_open, at->pid, 0);

	if (fd < 0 || proc_parent(at->pid) == at->parent)
		return fd;
	close(fd);
	return -1;
}

/* All are found before the first one ends, as then its children have another parent. */
void inject_signal(const struct inject_peers *p, int root, int sig, int group)
{
	struct process *all = NULL, *at, *next;

	proc_each(add, &all);
	HASH_ITER(hh, all, at, next)
		if (root && !proc_in_group(at->pid, group) && !inject_peers_has(p, at->pid) && descends(all, at, root))
			at->fd = open_process(at);
	HASH_ITER(hh, all, at, next) {
		if (at->fd >= 0) {
			syscall(SYS_pidfd_send_signal, at->fd, sig, NULL, 0);
			close(at->fd);
		}
		HASH_DEL(all, at);
		free(at);
	}
	inject_peers_signal(p, sig, group);
}
