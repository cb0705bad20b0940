/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The steps of a tool that measures inside kernels, from its command line to its exit status, as
 * session/tool.h has those of a tool with BPF programs: options, start of the command, loop, end.  It needs
 * neither BPF nor root: a library in the command's processes does the work (abi/gpuprobe.h). */
#ifndef GPUPROBE_TOOL_H
#define GPUPROBE_TOOL_H
#include "session/gpuprobe_options.h"
#include "session/gpuprobe_peers.h"

struct gpuprobe_tool {
	const struct usage *usage;
	const struct opt *opts;
	bool interval;			/* takes the operands [interval [count]] */
	struct gpuprobe_options *options;
	void *ctx;			/* for the hooks, called in this order; all but frame may be NULL */

	/* Takes other operands, from argv[first] on; without this hook the tool takes none. */
	void (*operands)(void *ctx, int argc, char **argv, int first);
	/* Checks the options after the command line is read; exits with the reason.  Returns true if there is
	 * nothing to run: the tool did what it was asked, and *status is what to exit with. */
	bool (*check)(void *ctx, int *status);
	/* Fills in what is the tool's own of *config, options having filled in theirs: scheme, spaces, ops, limit,
	 * flags, probe_size.  Returns the probe's PTX, which must outlive the run. */
	const char *(*config)(void *ctx, struct gpuprobe_config *config);
	/* Called before the command starts. */
	void (*start)(void *ctx);
	/* Called for each frame, as in struct gpuprobe_peers. */
	const char *(*frame)(void *ctx, const struct gpuprobe_peer *peer, uint32_t kind, const void *data, size_t size);
	/* Called after each interval; the last time is close(). */
	void (*report)(void *ctx);
	/* Called when all has been read, to print it; sig is the signal that has ended the run, or 0.  `left` are
	 * the processes that still run and were cut off: what they did since they were last read is missing. */
	void (*close)(void *ctx, int sig, unsigned left);
};

/* Runs the tool; returns the status to exit with: the command's, or 1 if none of its processes loaded an image.  Exits
 * on a usage error, or if the command cannot be started. */
int gpuprobe_tool_run(const struct gpuprobe_tool *tool, int argc, char **argv);

#endif
