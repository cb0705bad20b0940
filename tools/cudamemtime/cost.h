/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What probes cost each kernel, by ptxas: registers, spills, stack, instructions, resident warps. */
#ifndef COST_H
#define COST_H
#include "cudamemtime/rewrite.h"

/* Assembles an image as it is and with probes, and prints both, as text or JSON.  arch: "sm_90", or NULL: what the
 * PTX is for.  Says so if there is no ptxas, or if it refuses. */
void cost_print(struct rewrite *r, const char *text, size_t size, const char *arch, unsigned image);

#endif
