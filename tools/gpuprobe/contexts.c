/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "gpuprobe/contexts.h"

struct context *contexts_close(struct inject *inject, CUcontext ctx, CUdevice device)
{
	struct context *c;

	pthread_mutex_lock(&inject->lock);
	for (c = inject->modules.contexts; c; c = c->next)
		if (!c->closed && (ctx ? c->ctx == ctx : c->primary && c->device == device))
			break;
	if (c) {
		gpuprobe_wait(inject, &inject->served, ++inject->wanted);
		c->closed = true;
		gpuprobe_wait_idle(inject, &c->busy);
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
