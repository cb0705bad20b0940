// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* @NAME@ - @WHAT@ */
#include "base/die.h"
#include "ptx/instrument.h"
#include "gpuprobe/gpuprobe_run.h"
#include "session/tool.h"
#include "gpuprobe/gpuprobe_view.h"
#include "generated/gpuprobe_site_view.h"
#include "@NAME@.ptx.h"

static const struct usage usage = {
@!records|	.args = "[interval [count]]",
	.what = "@HELP@",
	.examples =
	"  @NAME@ -- ./train 10             # what a command does\n"
	"  @NAME@ -K 'sgemm*' -- ./train    # in some kernels\n"
	"  @NAME@ -j -- ./train             # JSON lines\n",
};

struct probe {
	struct session session;
	struct event_loop events;
	struct gpuprobe gpuprobe;
	struct gpuprobe_modules modules;
	struct gpuprobe_site_view view;
};

/* What the probe needs of the library in the program. */
static const char *config(void *ctx, struct gpuprobe_config *c)
{
	(void)ctx;
	c->scheme = PTX_DEP;
@place|	c->spaces = PTX_GLOBAL | PTX_GENERIC | PTX_READONLY;
@access|	c->ops = PTX_LOAD | PTX_STORE | PTX_ATOMIC | PTX_REDUCE;
@timed|	c->ops = PTX_LOAD | PTX_ATOMIC;
@records|	c->limit = 8192;	/* records of a group of SMs between two readings */
	c->probe_size = sizeof(@NAME@_ptx) - 1;
	return @NAME@_ptx;
}

static const char *frame(void *ctx, const struct gpuprobe_peer *peer, uint32_t kind, const void *data, size_t size)
{
	struct probe *p = ctx;
@records|	const char *wrong = gpuprobe_modules_frame(&p->modules, peer->id, peer->pid, kind, data, size);
@records|	struct gpuprobe_module *module;

@!records|	return gpuprobe_modules_frame(&p->modules, peer->id, peer->pid, kind, data, size);
@records|	if (wrong || kind != GPUPROBE_RECORDS)
@records|		return wrong;
@records|	module = gpuprobe_modules_find(&p->modules, peer->id, ((const struct gpuprobe_records *)data)->module);
@records|	if (module)
@records|		gpuprobe_site_view_records(&p->view, &p->modules, module);
@records|	return NULL;
}

@!records|static void report(void *ctx)
@!records|{
@!records|	struct probe *p = ctx;
@!records|
@!records|	gpuprobe_site_view(&p->view, &p->modules);
@!records|}
@!records|
static int finish(void *ctx, int sig)
{
	struct probe *p = ctx;

@!records|	report(p);
	gpuprobe_notes(&p->modules, p->gpuprobe.peers.peers.n, p->session.verbose);
	gpuprobe_modules_free(&p->modules);
	return sig;
}

int main(int argc, char **argv)
{
	struct probe p = {
		.session = SESSION_INIT,
@!records|		.events = { .report = report, .ctx = &p },
		.gpuprobe = { GPUPROBE_INIT, .config = config, .frame = frame },
@hist|		.view = { .shown = GPU_SITE_HIST, .unit = @UNIT@ },
@counters|		.view = { .shown = GPU_SITE_COUNTERS, .counters = { @COUNTERS@ } },
@records|		.view = { .shown = GPU_SITE_RECORDS },
	};
	const struct opt opts[] = {
		OPT_GPU(&p.session, &p.gpuprobe),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .session = &p.session, .events = &p.events,
		.gpuprobe = &p.gpuprobe, .stop = finish, .ctx = &p,
@!records|		.interval = true,
	};

	return tool_run(&tool, argc, argv);
}
