/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The loop of a tool that measures inside kernels: what processes send, intervals, and when it ends. */
#ifndef GPUPROBE_LOOP_H
#define GPUPROBE_LOOP_H
#include "session/gpuprobe_options.h"
#include "session/gpuprobe_peers.h"

struct gpuprobe_loop {
	const struct gpuprobe_options *options;
	void (*report)(void *ctx);	/* after each interval but the last of `count` */
	void *ctx;
	struct gpuprobe_peers *peers;
	int pid;		/* of the command */
	int signal;		/* set: which one ended the loop, 0: none */
};

/* Starts the command, and handles what comes until it ends, or until Ctrl-C, SIGTERM, the end of the duration or
 * count, or of the reader of the output; then what was sent before.  A signal is passed on to the command. */
void gpuprobe_loop_run(struct gpuprobe_loop *loop);

/* Waits for the command, but not for long if a signal has ended the loop; returns the status to exit with. */
int gpuprobe_loop_status(const struct gpuprobe_loop *loop, const char *command);

#endif
