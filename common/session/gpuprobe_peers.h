/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The processes of the command that have connected: a socket each, on which they send frames (abi/gpuprobe.h).
 * They may send anything: what is not a frame of a process of the command's user ends its connection. */
#ifndef GPUPROBE_PEERS_H
#define GPUPROBE_PEERS_H
#include "session/gpuprobe_peer.h"

/* Listens under a new abstract name; frame, ctx and user are set before.  Exits 1 if it cannot. */
void gpuprobe_peers_open(struct gpuprobe_peers *p);

/* What each peer is told: kernels and probe follow the configuration, whose sizes it has.  From here on the tool may have
 * more files open than the command, which is forked before. */
void gpuprobe_peers_config(struct gpuprobe_peers *p, const struct gpuprobe_config *config, const char *kernels,
		      const char *probe);

/* Waits for up to ms milliseconds, and handles what has come.  Returns true if anything has.  A peer that sends
 * without end is left after a while. */
bool gpuprobe_peers_poll(struct gpuprobe_peers *p, int ms);

/* Sends a signal to every process that is connected, but to those that have it already: pid, and a process group
 * (0: none). */
void gpuprobe_peers_signal(const struct gpuprobe_peers *p, int sig, int pid, int group);

/* Ends all connections; what peers had sent is lost. */
void gpuprobe_peers_close(struct gpuprobe_peers *p);

#endif
