/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "inject/contexts.h"

void contexts_early_add(struct contexts_early *early, CUcontext ctx, CUdevice device, bool primary)
{
	contexts_early_remove(early, ctx);
	if (early->n == CONTEXTS_EARLY)
		return;
	early->at[early->n].ctx = ctx;
	early->at[early->n].device = device;
	early->at[early->n++].primary = primary;
}

void contexts_early_remove(struct contexts_early *early, CUcontext ctx)
{
	for (unsigned i = 0; i < early->n; i++)
		if (early->at[i].ctx == ctx) {
			early->at[i] = early->at[--early->n];
			return;
		}
}

void contexts_early_take(const struct contexts_early *early, struct modules *modules)
{
	for (unsigned i = 0; i < early->n; i++) {
		struct context *c = modules_context(modules, early->at[i].ctx, early->at[i].device);

		if (c)
			c->primary = early->at[i].primary;
	}
}

struct context *contexts_close(struct inject *inject, CUcontext ctx, CUdevice device)
{
	struct context *c;

	pthread_mutex_lock(&inject->lock);
	for (c = inject->modules.contexts; c; c = c->next)
		if (!c->closed && (ctx ? c->ctx == ctx : c->primary && c->device == device))
			break;
	if (c) {
		inject_wait(inject, &inject->served, ++inject->wanted);
		c->closed = true;
		inject_wait_idle(inject, &c->busy);
	}
	pthread_mutex_unlock(&inject->lock);
	return c;
}

void contexts_closed(struct inject *inject, struct context *context, bool gone)
{
	pthread_mutex_lock(&inject->lock);
	context->gone = gone;
	context->closed = gone;
	pthread_mutex_unlock(&inject->lock);
}
