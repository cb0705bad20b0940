/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The functions that a tool may probe.  Their ids are the cookies of the probes. */
#ifndef PROBE_SOURCE_H
#define PROBE_SOURCE_H
#include <stdbool.h>
#include "api/cuda_api.h"

struct probes;

struct function {
	const char *name;	/* the symbol, as it is exported */
	enum cuda_lib lib;
	bool wanted;		/* by what the tool was asked for, but for --layer */
	bool returns;		/* with a return probe; a session program decides at each entry */
	bool late;		/* probed after the others */
	bool toggle;		/* taken out and put in again while tracing, see uprobes_toggle() */
};

struct probe_source {
	/* The id of the function of that name, or -1.  Is asked for every symbol of a file that
	 * begins with "cu" or "__cu". */
	int (*find)(const void *ctx, const char *symbol);
	struct function (*get)(const struct probes *p, int id);
	const void *ctx;
};

/* Those of cuda_api.tbl (cuda_fns[]): wanted are the probes' classes, with returns their
 * return_classes; toggled are the runtime's of toggle_classes.  In a process that runs, an
 * allocation must not be seen before its free can be, so allocations come late. */
extern const struct probe_source cuda_probe_source;

#endif
