/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef GPUPROBE_PTXAS_REWRITE_H
#define GPUPROBE_PTXAS_REWRITE_H
#include <stdbool.h>
#include <stdint.h>
#include "gpuprobe/select.h"
#include "ptx/instrument.h"
#include "ptx/probe.h"

/* What the tool has asked for. */
struct asked {
	struct instrument how;
	struct gpu_probe probe;
	struct select select;
	uint64_t hash;		/* of all of it */
};

/* Asks the tool.  Returns false if there is none.  Must not be copied: parts point to others. */
bool ptxas_asked(struct asked *asked);

/* Returns a new file with what is to be assembled instead of another, malloc'd; NULL: the original. */
char *ptxas_rewrite(const struct asked *asked, const char *file);

#endif
