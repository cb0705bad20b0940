/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The processes of the command that have connected: a socket each, on which they send frames (abi/inject.h).
 * They may send anything: what is not a frame of a process of the command's user ends its connection. */
#ifndef GPU_PEERS_H
#define GPU_PEERS_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "abi/inject.h"

/* Beyond these a connection is refused, and said once. */
enum { GPU_PEERS = 1024 };

struct gpu_peer {
	unsigned id;		/* counts from 1: a pid may come again */
	int fd;
	pid_t pid;		/* as the kernel says, as seen from the tool; 0: not visible from here */
	bool greeted, bye;	/* INJECT_HELLO came; INJECT_BYE came */
	size_t told;		/* bytes of the configuration that were sent */
	struct inject_frame head;	/* of the frame that is being read */
	size_t got;		/* bytes of the frame, with its head */
	char *data;		/* the frame's own, `room` bytes, as many as came or a few more */
	size_t room;
};

struct gpu_peers {
	int fd;			/* listens */
	uid_t user;		/* of the command; root and the tool's own may connect too */
	char name[64];		/* of the socket: the value of INJECT_SOCKET */
	void *config;		/* what each gets: a frame, config_size bytes */
	size_t config_size;
	/* Called for each frame, data being size bytes at an address aligned for any type; the first of a peer is
	 * INJECT_HELLO.  Returns NULL, or what is wrong with it, which ends the connection. */
	const char *(*frame)(void *ctx, const struct gpu_peer *peer, uint32_t kind, const void *data, size_t size);
	void *ctx;
	struct gpu_peer *peer;
	unsigned n, seen;	/* connected now, and ever */
	unsigned wrong;		/* were cut off */
	size_t held;		/* bytes of all frames that are being read */
	bool full;		/* GPU_PEERS was reached */
};

/* Listens under a new abstract name; frame, ctx and user are set before.  Exits 1 if it cannot. */
void gpu_peers_open(struct gpu_peers *p);

/* What each peer is told: kernels and probe follow the configuration, whose sizes it has. */
void gpu_peers_config(struct gpu_peers *p, const struct inject_config *config, const char *kernels,
		      const char *probe);

/* Waits for up to ms milliseconds, and handles what has come.  Returns true if anything has.  A peer that sends
 * without end is left after a while. */
bool gpu_peers_poll(struct gpu_peers *p, int ms);

/* Sends a signal to every process that is connected. */
void gpu_peers_signal(const struct gpu_peers *p, int sig);

/* Ends all connections; what peers had sent is lost. */
void gpu_peers_close(struct gpu_peers *p);

#endif
