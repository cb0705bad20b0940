/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A process of the command that has connected, and all of them: gpuprobe_peers.h. */
#ifndef GPUPROBE_PEER_H
#define GPUPROBE_PEER_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "abi/gpuprobe.h"

/* Beyond these, or with too few descriptors, a connection is refused, and said once. */
enum { GPU_PEERS = 1024 };

struct gpuprobe_peer {
	unsigned id;		/* counts from 1: a pid may come again */
	int fd;
	pid_t pid;		/* as the kernel says, as seen from the tool; 0: not visible from here */
	int pidfd;		/* -1: none.  Who has connected may have ended, and the pid be another's */
	bool greeted, bye;	/* GPUPROBE_HELLO came; GPUPROBE_BYE came */
	size_t told;		/* bytes of the configuration that were sent */
	struct gpuprobe_frame head;	/* of the frame that is being read */
	size_t got;		/* bytes of the frame, with its head */
	char *data;		/* the frame's own, `room` bytes, as many as came or a few more */
	size_t room;
};

struct gpuprobe_peers {
	int fd;			/* listens */
	uid_t user;		/* of the command; root and the tool's own may connect too */
	char name[64];		/* of the socket: the value of GPUPROBE_SOCKET */
	void *config;		/* what each gets: a frame, config_size bytes */
	size_t config_size;
	/* Called for each frame, data being size bytes at an address aligned for any type; the first of a peer is
	 * GPUPROBE_HELLO.  Returns NULL, or what is wrong with it, which ends the connection. */
	const char *(*frame)(void *ctx, const struct gpuprobe_peer *peer, uint32_t kind, const void *data, size_t size);
	void *ctx;
	struct gpuprobe_peer *peer;
	unsigned n, seen;	/* connected now, and ever */
	bool greeted;		/* one has: cudagpuprobe-ptxas does not */
	unsigned wrong;		/* were cut off */
	size_t held;		/* bytes of all frames that are being read */
	unsigned most;		/* GPU_PEERS, or as many as there are descriptors for */
	bool full;		/* that was reached */
};

#endif
