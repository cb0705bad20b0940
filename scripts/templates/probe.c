// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* @NAME@ - @WHAT@ */
#include "base/die.h"
#include "ptx/instrument.h"
#include "session/gpuprobe_tool.h"
#include "view/gpuprobe_view.h"
#include "view/gpuprobe_site_view.h"
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
	struct gpuprobe_options options;
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
static void finish(void *ctx, int sig, unsigned left)
{
	struct probe *p = ctx;

	(void)sig;
@!records|	report(p);
	gpuprobe_notes(&p->modules, left, p->options.verbose);
	gpuprobe_modules_free(&p->modules);
}

int main(int argc, char **argv)
{
	struct probe p = {
		.options = GPU_OPTIONS_INIT,
@hist|		.view = { .shown = GPU_SITE_HIST, .unit = @UNIT@ },
@counters|		.view = { .shown = GPU_SITE_COUNTERS, .counters = { @COUNTERS@ } },
@records|		.view = { .shown = GPU_SITE_RECORDS },
	};
	const struct opt opts[] = {
		OPT_GPU(&p.options),
		OPT_END
	};
	const struct gpuprobe_tool tool = {
		.usage = &usage, .opts = opts, .options = &p.options, .ctx = &p,
@!records|		.interval = true, .config = config, .frame = frame, .report = report, .close = finish,
@records|		.config = config, .frame = frame, .close = finish,
	};

	return gpuprobe_tool_run(&tool, argc, argv);
}
