/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A probe's function, ready to be pasted into kernels: names are those of the module, labels get a number for each paste,
 * parameters become moves of the arguments, and `ret` jumps to the end of the text. */
#ifndef PTX_TEMPLATE_H
#define PTX_TEMPLATE_H
#include "ptx/probe.h"
#include "ptx/put.h"

struct ptx_template {
	struct ptx_out text;	/* with bytes below 8 where the number (1) and the arguments (2 …) go */
	struct ptx_out function;	/* as a function of the module, to be called */
};

/* Puts text with the names of the probe's variables in a module with this hash (8 hex digits). */
void ptx_put_renamed(struct ptx_out *out, const struct gpu_probe *probe, struct ptx_str text, const char *hash);

/* Makes a template of a probe's function; its text is empty if the probe has none. */
void ptx_template_make(struct ptx_template *tmpl, const struct gpu_probe *probe, enum gpu_point point,
		       const char *hash);
void ptx_template_free(struct ptx_template *tmpl);

/* Pastes it, with number for its labels.  The first argument of gpu_chosen is where its result goes. */
void ptx_template_paste(struct ptx_out *out, const struct ptx_template *tmpl, unsigned number,
			const char *const args[GPU_PARAMS]);
/* Calls tmpl->function, which is in the module. */
void ptx_template_call(struct ptx_out *out, enum gpu_point point, const char *const args[GPU_PARAMS]);

#endif
