/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The programs of the command that have connected (abi/agent_inject.h), and their processes.  Each program sends messages on a
 * connection and waits for the answers.  What they send is untrusted. */
#ifndef INJECT_INJECT_PEERS_H
#define INJECT_INJECT_PEERS_H
#include <stdbool.h>
#include <sys/types.h>
#include "abi/agent_inject.h"
#include "base/hash.h"
#include "proc/peers.h"
#include "proc/proc.h"

/* A process that has the memory; pid as the tool sees it. */
struct inject_process {
	int pid, pidfd;
	struct proc_identity is;
	struct proc_rights rights;	/* when it connected */
	unsigned marks;		/* enum inject_marks */
	bool inner;		/* in another PID namespace: its thread ids are not the tool's */
	UT_hash_handle hh;
};

/* A message with its text, which ends with a 0. */
struct inject_message {
	struct inject_message_head head;
	char text[INJECT_PATH + 1];
};

struct inject_peers {
	/* set before inject_peers_open() */
	struct peers peers;	/* those of its user may connect */
	int memory[INJECT_MEMORIES];	/* the descriptors that they get */
	unsigned long long bytes;	/* of the memory */
	bool leave;		/* they are asked to let us read theirs */
	/* Called for each message of a process that is followed; returns whether it is to be probed. */
	bool (*message)(void *ctx, int pid, const struct inject_message *m);
	/* Called for a process that awaits to be asked: inject_peers_await(). */
	void (*came)(void *ctx, int pid);
	/* Called when a process has ended, or has replaced its program. */
	void (*ended)(void *ctx, int pid);
	void (*execed)(void *ctx, int pid);
	/* Called when a process has got another user, or a seccomp filter; mark: enum inject_marks. */
	void (*marked)(void *ctx, int pid, unsigned mark);
	/* Returns the description of the Python that a process runs; NULL: none yet. */
	const struct python_process *(*python)(void *ctx, int pid);
	void *ctx;
	int epoll;		/* readable when there is something to do */
	/* private */
	int awaits;		/* listens for these; 0: does not */
	int *sockets, nsockets;	/* that listen: the own one, and of other network namespaces */
	struct inject_process *processes, *next;	/* next: whose program is looked at next */
	struct inject_connection *connections;
	unsigned pending, turn;
	unsigned long long looked, turned;	/* when it was seen which programs run, all of them and some, ns */
	unsigned long late;	/* processes that were gone, or had given up, when they were answered */
	unsigned long strangers;	/* messages by which processes of other users asked for the memory */
};

/* Listens.  Exits 1 if it cannot. */
void inject_peers_open(struct inject_peers *p);

/* Listens in another network namespace, a descriptor, too.  Returns a socket for inject_peers_unlisten(); or -1 with errno set. */
int inject_peers_listen(struct inject_peers *p, int net);
void inject_peers_unlisten(struct inject_peers *p, int socket);

/* Listens for processes under this abstract name, too.  Return false if it is taken. */
bool inject_peers_await(struct inject_peers *p, const char *name);

/* Call regularly, and when epoll is readable: answers messages, and handles the ends of processes. */
void inject_peers_serve(struct inject_peers *p);

/* Return true if this process is followed. */
bool inject_peers_has(const struct inject_peers *p, int pid);

/* Return true if it is, and its threads have the ids that it knows. */
bool inject_peers_sees(const struct inject_peers *p, int pid);

/* Return true if it is, and has not ended. */
bool inject_peers_lives(const struct inject_peers *p, int pid);

/* Sends a signal to the process root (0: it has ended, and its pid may be reused), to its descendants, which need not have
 * connected, and to the processes that have, each once, except for a process group that has it already (0: none).  A
 * process whose parent has ended and that has not connected is not reached. */
void inject_peers_signal(const struct inject_peers *p, int root, int sig, int group);

void inject_peers_close(struct inject_peers *p);

#endif
