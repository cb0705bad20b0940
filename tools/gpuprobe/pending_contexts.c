/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "gpuprobe/pending_contexts.h"

void pending_contexts_add(struct pending_contexts_contexts *early, CUcontext ctx, CUdevice device, bool primary)
{
	pending_contexts_remove(early, ctx);
	if (early->n == EARLY_CONTEXTS)
		return;
	early->at[early->n].ctx = ctx;
	early->at[early->n].device = device;
	early->at[early->n++].primary = primary;
}

void pending_contexts_remove(struct pending_contexts_contexts *early, CUcontext ctx)
{
	for (unsigned i = 0; i < early->n; i++)
		if (early->at[i].ctx == ctx) {
			early->at[i] = early->at[--early->n];
			return;
		}
}

void pending_contexts_take(const struct pending_contexts_contexts *early, struct modules *modules)
{
	for (unsigned i = 0; i < early->n; i++) {
		struct context *c = modules_context(modules, early->at[i].ctx, early->at[i].device);

		if (c)
			c->primary = early->at[i].primary;
	}
}
