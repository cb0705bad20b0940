/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The processes of the command that have connected: a socket each, on which they send frames (abi/agent_gpuprobe.h).
 * Their messages are untrusted: anything but a frame of a process of the command's user ends its connection. */
#ifndef GPUPROBE_GPUPROBE_PEERS_H
#define GPUPROBE_GPUPROBE_PEERS_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "abi/agent_gpuprobe.h"
#include "proc/peers.h"

struct gpuprobe_peer {
	unsigned id;		/* counts from 1: a pid may come again */
	int fd;
	pid_t pid;		/* as the kernel reports it, as seen from the tool; 0: not visible from here */
	int pidfd;		/* -1: none.  The process may have ended, and its pid be another's */
	bool greeted, bye;	/* GPUPROBE_HELLO came; GPUPROBE_BYE came */
	size_t sent;		/* bytes of the configuration */
	struct gpuprobe_frame head;	/* of the frame that is being read */
	size_t got;		/* bytes of the frame, with its head */
	char *data;		/* the frame's own, `room` bytes, as many as came or a few more */
	size_t room;
};

struct gpuprobe_peers {
	struct peers peers;	/* root and the tool's own user may connect too */
	void *config;		/* what each gets: a frame, config_size bytes */
	size_t config_size;
	/* Called for each frame, data being size bytes at an address aligned for any type; the first of a peer is
	 * GPUPROBE_HELLO.  Returns NULL, or what is wrong with it, which ends the connection. */
	const char *(*frame)(void *ctx, const struct gpuprobe_peer *peer, uint32_t kind, const void *data, size_t size);
	void *ctx;
	struct gpuprobe_peer *peer;	/* peers.n */
	unsigned seen;		/* connected ever */
	bool greeted;		/* one has: cudagpuprobe-ptxas does not */
	unsigned wrong;		/* were cut off */
	size_t held;		/* bytes of all frames that are being read */
};

/* Listens; frame, ctx and peers.user are set before.  Exits 1 if it cannot. */
void gpuprobe_peers_open(struct gpuprobe_peers *p);

/* Sets what each peer gets: the configuration, which has the sizes of kernels and probe, and these. */
void gpuprobe_peers_config(struct gpuprobe_peers *p, const struct gpuprobe_config *config, const char *kernels,
			   const char *probe);

/* Waits for up to ms milliseconds, and handles what has come.  Returns true if anything has.  A peer that sends
 * without end is left after a while. */
bool gpuprobe_peers_poll(struct gpuprobe_peers *p, int ms);

/* Sends a signal to every process that is connected, except those that have it already: pid, and a process
 * group (0: none). */
void gpuprobe_peers_signal(const struct gpuprobe_peers *p, int sig, int pid, int group);

/* Ends all connections; what peers had sent is lost. */
void gpuprobe_peers_close(struct gpuprobe_peers *p);

#endif
