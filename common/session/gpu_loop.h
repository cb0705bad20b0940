/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The loop of a tool that measures inside kernels: what processes send, intervals, and when it ends. */
#ifndef GPU_LOOP_H
#define GPU_LOOP_H
#include "session/gpu_options.h"
#include "session/gpu_peers.h"

struct gpu_loop {
	const struct gpu_options *options;
	void (*report)(void *ctx);	/* after each interval but the last of `count` */
	void *ctx;
	struct gpu_peers *peers;
	int pid;		/* of the command */
	int signal;		/* set: which one ended the loop, 0: none */
};

/* Starts the command, and handles what comes until it ends, or until Ctrl-C, SIGTERM, the end of the duration or
 * count, or of the reader of the output; then what was sent before.  A signal is passed on to the command. */
void gpu_loop_run(struct gpu_loop *loop);

/* Waits for the command, but not for long if a signal has ended the loop; returns the status to exit with. */
int gpu_loop_status(const struct gpu_loop *loop, const char *command);

#endif
