/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The back end of GPU probe tools (tool.h): their options, and the library that puts the probes into the kernels of the
 * command's processes (abi/agent_gpuprobe.h).  It needs neither BPF nor root. */
#ifndef GPUPROBE_GPUPROBE_RUN_H
#define GPUPROBE_GPUPROBE_RUN_H
#include <stdbool.h>
#include "abi/agent_gpuprobe.h"
#include "cli/opt.h"
#include "gpuprobe/gpuprobe_modules.h"
#include "gpuprobe/gpuprobe_peers.h"

struct gpuprobe {
	/* options */
	const char *kernels, *blocks, *warps;
	long period_ns, max_sites;
	bool keep_registers;
	/* The tool's hooks.  config: fills in the tool's part of *config, after the options have
	 * filled in theirs: scheme, spaces, ops, limit, flags, probe_size.  Returns the probe's PTX, which must outlive the
	 * run.  frame: as in struct gpuprobe_peers; NULL: gpuprobe_frame().  records: called with a module's new records, which
	 * are then freed; NULL: all are kept. */
	void *ctx;		/* for the hooks; set by tool_run(): that of struct tool */
	const char *(*config)(void *ctx, struct gpuprobe_config *config);
	const char *(*frame)(void *ctx, const struct gpuprobe_peer *peer, uint32_t kind, const void *data, size_t size);
	void (*records)(void *ctx, const struct gpuprobe_module *module);
	/* state.  After the loop, peers.peers.n are processes that still run: what they did since they were last read is
	 * missing. */
	struct gpuprobe_peers peers;
	struct gpuprobe_modules modules;	/* what was measured */
	char *library;		/* its file */
};

#define GPUPROBE_INIT .period_ns = VALUE_S, .max_sites = 10000

/* The command and the output; t: the tool's struct session. */
#define OPT_GPU_RUN(t)									\
	OPT_CMD('c', "command", "'CMD ...'", &(t)->command,				\
		"run CMD and measure it and its children until it exits"),		\
	OPT_STR('u', "user", "USER", &(t)->user,					\
		"run CMD as USER: name, UID or UID:GID; default: the caller of sudo"),	\
	OPT_TIME('d', "duration", "SECONDS", &(t)->duration_ns, VALUE_S, 1, "stop after SECONDS"), \
	OPT_STR('o', "output", "FILE", &(t)->output, "write to FILE instead of standard output"), \
	OPT_FLAG('j', "json", &(t)->json, "print one JSON object per line"),		\
	OPT_QUIET(t)

/* Which kernels are measured. */
#define OPT_GPU_KERNELS(g)								\
	OPT_STR('K', "kernels", "GLOB[,GLOB...]", &(g)->kernels,				\
		"only kernels with these names, as in the source; default: all"),	\
	OPT_NUM(0, "max-sites", "N", &(g)->max_sites, 1,					\
		"leave images alone with more than N places to measure; default: 10000"),	\
	OPT_FLAG(0, "keep-registers", &(g)->keep_registers,				\
		 "limit kernels to the registers they had, so that as many warps fit"),	\
	OPT_TIME(0, "period", "SECONDS", &(g)->period_ns, VALUE_S, 10 * VALUE_MS,	\
		 "read from the GPU every SECONDS; default: 1")

/* Which of their blocks and warps. */
#define OPT_GPU(t, g)									\
	OPT_GPU_RUN(t),									\
	OPT_GPU_KERNELS(g),								\
	OPT_STR(0, "blocks", "1/N", &(g)->blocks, "only every Nth block; N: a power of two"),	\
	OPT_STR(0, "warps", "1/N", &(g)->warps, "only every Nth warp of a block; N: a power of two")

/* Sets *config to what the options select: flags, masks, groups, max_sites, period_ms.  Exits 2 if they are invalid.  The
 * rest is the tool's.  Groups are as many as leave a frame room for the slots of all sites. */
void gpuprobe_config(const struct gpuprobe *g, struct gpuprobe_config *config);

/* Returns the globs of -K as the library wants them, each ended by 0, and their size; the caller frees them. */
char *gpuprobe_kernels(const struct gpuprobe *g, uint32_t *size);

/* Call once the command is forked, for that user: finds the library, and listens.  Returns NULL; or why there is no library,
 * which the caller frees. */
char *gpuprobe_open(struct gpuprobe *g, uid_t user);

/* Call before command_go(): has the command's dynamic linker load the library, and Triton call ours instead of ptxas. */
void gpuprobe_begin(const struct gpuprobe *g);

/* Handles what processes send, for some milliseconds. */
void gpuprobe_serve(struct gpuprobe *g);

/* Reads a frame into the modules.  Returns NULL, or what is wrong with it. */
const char *gpuprobe_frame(struct gpuprobe *g, const struct gpuprobe_peer *peer, uint32_t kind, const void *data, size_t size);

/* Sends the command, whose pid that is, and its processes a signal. */
void gpuprobe_signal(const struct gpuprobe *g, int pid, int sig);

/* Call after the loop: signals the command (pid) and its children, if sig is not 0, and handles what they had
 * sent, and what those send that the signal ends. */
void gpuprobe_finish(struct gpuprobe *g, int pid, int sig);

void gpuprobe_close(struct gpuprobe *g);

/* tool_run() calls it after struct tool.stop: prints gpuprobe_notes(), and frees the modules. */
void gpuprobe_end(struct gpuprobe *g, bool verbose);

#endif
