/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The back end of GPU probe tools: gpuprobe/gpuprobe_run.h. */
#include <stdlib.h>
#include "base/die.h"
#include "base/failure.h"
#include "gpuprobe/gpuprobe_run.h"
#include "session/backend.h"
#include "session/session.h"

bool gpu_suits(const struct backend *b, const struct session *t)
{
	(void)b;
	return t->gpuprobe;
}

void gpu_refuse(const struct backend *b, struct session *t, struct failure *f)
{
	char *why = gpuprobe_open(t->gpuprobe, t->traced_user);

	(void)b;
	if (why)
		failure_set(f, EXIT_FAILURE, 0, "%s", why);
	free(why);
}

void gpu_begin(struct session *t)
{
	gpuprobe_begin(t->gpuprobe);
}

int gpu_serve(struct session *t, const struct backend_wait *w)
{
	if (!w->last)
		gpuprobe_serve(t->gpuprobe);
	return 0;
}

void gpu_signal(const struct session *t, int sig)
{
	gpuprobe_signal(t->gpuprobe, t->probes.pids[0], sig);
}

void gpu_drain(struct session *t, int sig)
{
	gpuprobe_finish(t->gpuprobe, t->probes.pids[0], sig);
}

void gpu_detach(struct session *t, int sig, long ms)
{
	(void)sig, (void)ms;
	gpuprobe_close(t->gpuprobe);
}
