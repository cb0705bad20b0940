/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The programs of the command that have connected (abi/inject.h), and their processes.  They may send anything. */
#ifndef INJECT_PEERS_H
#define INJECT_PEERS_H
#include "session/inject_peer.h"

/* Listens under a new abstract name.  Exits 1 if it cannot. */
void inject_peers_open(struct inject_peers *p);

/* Call regularly, and when epoll is readable: answers what has come, and sees to the processes that have ended. */
void inject_peers_serve(struct inject_peers *p);

/* Return true if this process is followed. */
bool inject_peers_has(const struct inject_peers *p, int pid);

/* Return true if it is, and has not ended. */
bool inject_peers_lives(const struct inject_peers *p, int pid);

/* Sends every process a signal, but those of a process group that has it already (0: none). */
void inject_peers_signal(const struct inject_peers *p, int sig, int group);

void inject_peers_close(struct inject_peers *p);

#endif
