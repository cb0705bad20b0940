/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The options of every tool that measures inside kernels: what to run, and what of it to measure. */
#ifndef GPUPROBE_OPTIONS_H
#define GPUPROBE_OPTIONS_H
#include <stdbool.h>
#include "abi/gpuprobe.h"
#include "cli/opt.h"

struct gpuprobe_options {
	const char *command, *user, *output, *kernels, *blocks, *warps;
	char **argv;		/* the command's, if it is not one for the shell; else NULL */
	long duration_ns, period_ns, interval_ns, count, max_sites;
	bool keep_registers, json, quiet, verbose;
};

#define GPU_OPTIONS_INIT { .period_ns = VALUE_S, .max_sites = 10000 }

/* What to run, and how to print. */
#define OPT_GPU_RUN(g)									\
	OPT_CMD('c', "command", "'CMD ...'", &(g)->command,				\
		"run CMD and measure it and its children until it exits"),		\
	OPT_STR('u', "user", "USER", &(g)->user,					\
		"run CMD as USER: name, UID or UID:GID; default: who called sudo"),	\
	OPT_TIME('d', "duration", "SECONDS", &(g)->duration_ns, VALUE_S, 1, "stop after SECONDS"), \
	OPT_STR('o', "output", "FILE", &(g)->output, "write to FILE instead of standard output"), \
	OPT_FLAG('j', "json", &(g)->json, "print one JSON object per line"),		\
	OPT_FLAG('q', "quiet", &(g)->quiet, "no start message and no progress"),	\
	OPT_FLAG('v', "verbose", &(g)->verbose, "print debug messages")

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
#define OPT_GPU_CHOICE(g)								\
	OPT_GPU_KERNELS(g),								\
	OPT_STR(0, "blocks", "1/N", &(g)->blocks, "only every Nth block; N: a power of two"),	\
	OPT_STR(0, "warps", "1/N", &(g)->warps, "only every Nth warp of a block; N: a power of two")

#define OPT_GPU(g) OPT_GPU_RUN(g), OPT_GPU_CHOICE(g)

/* Takes the command that follows "--", which is run without a shell.  Returns its text, which g->command is now: to
 * be freed when g is no longer used. */
char *gpuprobe_options_command(struct gpuprobe_options *g, char **argv);

/* Fills in what the options say: flags, masks, groups, max_sites, period_ms.  Exits 2 if they make no sense.  The
 * rest is the tool's.  Groups are as many as leave a frame room for the slots of all sites. */
void gpuprobe_options_config(const struct gpuprobe_options *g, struct gpuprobe_config *config);

/* Returns the globs of -K as the library wants them, each ended by 0, and their size; the caller frees them. */
char *gpuprobe_options_kernels(const struct gpuprobe_options *g, uint32_t *size);

#endif
