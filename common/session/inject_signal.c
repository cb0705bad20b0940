/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/die.h"
#include "base/hash.h"
#include "proc/proc.h"
#include "session/inject_peers.h"
#include "session/inject_signal.h"

/* Parents between a process and the command: their numbers may be others' by now, and form a ring. */
enum { DEPTH = 1000 };

struct process {
	int pid, parent;
	bool meant;
	UT_hash_handle hh;
};

static void add(void *ctx, int pid)
{
	struct process **all = ctx, *at = xcalloc(1, sizeof(*at));

	at->pid = pid;
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

/* All are found before the first one ends, as then its children have another parent. */
void inject_signal(const struct inject_peers *p, int root, int sig)
{
	struct process *all = NULL, *at, *next;

	proc_each(add, &all);
	HASH_ITER(hh, all, at, next)
		at->meant = !inject_peers_has(p, at->pid) && descends(all, at, root);
	HASH_ITER(hh, all, at, next) {
		if (at->meant)
			kill(at->pid, sig);
		HASH_DEL(all, at);
		free(at);
	}
	inject_peers_signal(p, sig);
}
