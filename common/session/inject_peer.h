/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A process of the command that has connected, and all of them: inject_peers.h. */
#ifndef INJECT_PEER_H
#define INJECT_PEER_H
#include <stdbool.h>
#include <sys/types.h>
#include "abi/inject.h"
#include "base/hash.h"
#include "proc/proc.h"

/* A process that has the memory; pid as the tool sees it. */
struct inject_process {
	int pid, pidfd;
	struct proc_identity is;
	struct proc_rights rights;	/* when it connected */
	unsigned marks;		/* enum inject_marks */
	UT_hash_handle hh;
};

/* A message with its text, which ends with a 0. */
struct inject_message {
	struct inject_message_head head;
	char text[INJECT_PATH + 1];
};

struct inject_peers {
	/* set before inject_peers_open() */
	uid_t user;		/* whose processes may connect */
	int memory[INJECT_MEMORIES];	/* the descriptors that they get */
	unsigned long long bytes;	/* of the memory */
	bool leave;		/* they are asked to let us read theirs */
	/* Called for each message of a process that is followed; returns whether it is to be probed. */
	bool (*told)(void *ctx, int pid, const struct inject_message *m);
	/* Called when a process has ended, or has replaced its program. */
	void (*ended)(void *ctx, int pid);
	void (*execed)(void *ctx, int pid);
	/* Called when it is seen that a process has got another user, or a seccomp filter; mark: enum inject_marks. */
	void (*marked)(void *ctx, int pid, unsigned mark);
	/* What is known of the Python that a process runs; NULL: nothing. */
	const struct python_process *(*python)(void *ctx, int pid);
	void *ctx;
	int epoll;		/* readable when there is something to do */
	/* private */
	char name[48];		/* of the socket */
	int fd;
	struct inject_process *processes, *next;	/* next: whose program is looked at next */
	struct inject_connection *connections;
	unsigned n, most, pending;
	unsigned long long looked, turned;	/* when it was seen which programs run, all of them and some, ns */
	unsigned long late;	/* processes that were gone, or had given up, when they were answered */
	unsigned long strangers;	/* messages by which processes of other users asked for the memory */
	bool full;
	bool (*follow)(struct inject_peers *p, int pid);	/* a process that has connected; false if there are too many */
};

#endif
