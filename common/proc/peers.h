/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A Unix socket on which the tool listens for processes of the command: that of --attach inject (inject_peers.h) and that
 * of GPU probes (gpuprobe_peers.h). */
#ifndef PROC_PEERS_H
#define PROC_PEERS_H
#include <stdbool.h>
#include <sys/types.h>
#include "base/overflow_uid.h"

struct ucred;

struct peers {
	/* set before peers_open() */
	const char *done;	/* what peers are, for a warning: "traced" */
	uid_t user;		/* of the command */
	/* state */
	int fd;			/* listens */
	int type, backlog;
	char name[64];		/* of the socket, abstract */
	struct users users;	/* of the tool's user namespace */
	unsigned n, most;	/* connected; as many as there may be */
	bool full;		/* that was reached, and reported */
};

/* Listens under a new random name with a socket of this type.  most: of peers at a time, if the tool may have that many
 * times `files` descriptors, and `own` others.  Exits 1 if it cannot.  Call once the command is forked: the tool's limit of
 * open files is raised. */
void peers_open(struct peers *p, int type, int backlog, unsigned most, unsigned files, unsigned own);

/* Listens under that name in another network namespace, a descriptor, too: abstract names are those of one.  Returns a socket, which
 * the caller closes; or -1 with errno set. */
int peers_listen(const struct peers *p, int net);

/* The same in the tool's, under another name. */
int peers_listen_as(const struct peers *p, const char *name);

/* Returns a new connection to a socket that listens, which does not block, and whose it is (pid 0: not visible from here, or
 * unknown; uid -1: a user who cannot be told from others, or unknown); -1: none. */
int peers_accept(const struct peers *p, int socket, struct ucred *who);

/* Return true if there is room for one more; the first time that there is none, warns. */
bool peers_has_room(struct peers *p);

/* Sends a signal to the process of a pidfd, unless it is of the process group that has it already (0: none). */
void peers_signal(int pidfd, int pid, int sig, int group);

/* Listens no more; connections are the caller's. */
void peers_close(struct peers *p);

#endif
