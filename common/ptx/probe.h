/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A probe: functions and variables in PTX that clang made of a file in gpu/ (instrument.h says which). */
#ifndef PTX_PROBE_H
#define PTX_PROBE_H
#include <stdbool.h>
#include "ptx/ptx.h"

enum { GPU_FUNCTIONS = 5, GPU_VARIABLES = 16, GPU_PARAMS = 4 };

#define GPU_RANGES_NAME "ranges"	/* a probe's struct gpu_ranges */
#define GPU_CTL "__cuprobe_ctl"	/* declared in a probe; in a module with its hash */

enum gpu_point { GPU_CHOSEN, GPU_ENTRY, GPU_EXIT, GPU_BEFORE, GPU_TIMED };

struct gpu_function {
	struct ptx_str params;		/* between ( ) */
	struct ptx_str body;		/* between the outer { } ; n = 0: the probe has no such function */
};

struct gpu_probe {
	struct gpu_function at[GPU_FUNCTIONS];	/* by enum gpu_point */
	struct ptx_str variables[GPU_VARIABLES];	/* whole statements of the module */
	struct ptx_str names[GPU_VARIABLES];
	int num_variables;
	bool slots, rings;		/* it has gpu_uses_slots, gpu_uses_rings: the module has these */
};

/* Reads a probe from text, which must outlive it.  Returns NULL, or why it is none; static storage. */
const char *gpu_probe_read(struct gpu_probe *probe, const char *text, size_t size);

/* The number at the end of [name_param_2], one digit; -1 if there is none. */
int gpu_param_number(struct ptx_str arg);

/* The bits of the parameters of a probe's functions, ended by 0; and the functions' names. */
extern const unsigned char gpu_point_params[GPU_FUNCTIONS][GPU_PARAMS];
extern const char *const gpu_point_names[GPU_FUNCTIONS];

#endif
