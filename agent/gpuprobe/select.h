/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The kernels that -K selects. */
#ifndef AGENT_GPUPROBE_SELECT_H
#define AGENT_GPUPROBE_SELECT_H
#include <stdbool.h>
#include <stddef.h>

struct select {
	const char *globs;	/* each ended by 0; owned by the caller */
	size_t size;		/* 0: all kernels are selected */
};

/* Return true if a kernel's name as linked, as in the source, or as in the source without parameters matches. */
bool select_matches(const struct select *select, const char *name, size_t n);

#endif
