/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The programs of the command that have connected (abi/audit.h), and their processes.  They may send anything. */
#ifndef INJECT_PEERS_H
#define INJECT_PEERS_H
#include <stdbool.h>
#include <sys/types.h>
#include "abi/audit.h"
#include "base/hash.h"
#include "proc/proc.h"

/* A process that has the memory; pid as the tool sees it. */
struct inject_process {
	int pid, pidfd;
	struct proc_identity is;
	UT_hash_handle hh;
};

/* A message with its text, which ends with a 0. */
struct inject_message {
	struct audit_message head;
	char text[AUDIT_PATH + 1];
};

struct inject_peers {
	/* set before inject_peers_open() */
	uid_t user;		/* whose processes may connect */
	int memory;		/* the descriptor that they get */
	unsigned long long bytes;	/* of the memory */
	/* Called for each message of a process that is followed; returns whether it is to be probed. */
	bool (*told)(void *ctx, int pid, const struct inject_message *m);
	/* Called when a process has ended, or has replaced its program. */
	void (*ended)(void *ctx, int pid);
	void (*execed)(void *ctx, int pid);
	void *ctx;
	int epoll;		/* readable when there is something to do */
	/* private */
	char name[48];		/* of the socket */
	int fd;
	struct inject_process *processes;
	struct inject_connection *connections;
	unsigned n, most, pending;
	unsigned long long looked;	/* when it was seen which programs run, ns */
	bool full;
};

/* Listens under a new abstract name.  Exits 1 if it cannot. */
void inject_peers_open(struct inject_peers *p);

/* Call regularly, and when epoll is readable: answers what has come, and sees to the processes that have ended. */
void inject_peers_serve(struct inject_peers *p);

/* Return true if this process is followed. */
bool inject_peers_has(const struct inject_peers *p, int pid);

/* Return true if it is, and has not ended. */
bool inject_peers_lives(const struct inject_peers *p, int pid);

/* Sends every process a signal. */
void inject_peers_signal(const struct inject_peers *p, int sig);

void inject_peers_close(struct inject_peers *p);

#endif
