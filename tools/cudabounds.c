// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudabounds - show how much memory CUDA kernels access at once */
#include "base/die.h"
#include "ptx/instrument.h"
#include "session/gpu_tool.h"
#include "view/gpu_notes.h"
#include "view/gpu_site_view.h"
#include "cudabounds.ptx.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show how much memory CUDA kernels access at once:\n"
		"what was counted so far, every interval and at the end.  Needs no root.",
	.examples =
	"  cudabounds -- ./train 10             # what a command does\n"
	"  cudabounds -K 'sgemm*' -- ./train    # in some kernels\n"
	"  cudabounds -j -- ./train             # JSON lines\n",
};

struct probe {
	struct gpu_options options;
	struct gpu_modules modules;
	struct gpu_site_view view;
};

/* What the probe needs of the library in the program. */
static const char *config(void *ctx, struct inject_config *c)
{
	(void)ctx;
	c->scheme = PTX_DEP;
	c->spaces = PTX_GLOBAL | PTX_GENERIC | PTX_READONLY;
	c->ops = PTX_LOAD | PTX_STORE | PTX_ATOMIC | PTX_REDUCE;
	c->probe_size = sizeof(cudabounds_ptx) - 1;
	return cudabounds_ptx;
}

static const char *frame(void *ctx, const struct gpu_peer *peer, uint32_t kind, const void *data, size_t size)
{
	struct probe *p = ctx;

	return gpu_modules_frame(&p->modules, peer->id, peer->pid, kind, data, size);
}

static void report(void *ctx)
{
	struct probe *p = ctx;

	gpu_site_view(&p->view, &p->modules);
}

static void finish(void *ctx, int sig, unsigned left)
{
	struct probe *p = ctx;

	(void)sig;
	report(p);
	if (p->options.json)
		gpu_notes_json(&p->modules.images);
	gpu_notes(&p->modules, left, p->options.verbose);
	gpu_modules_free(&p->modules);
}

int main(int argc, char **argv)
{
	struct probe p = {
		.options = GPU_OPTIONS_INIT,
		.view = { .shown = GPU_SITE_COUNTERS, .counters = { "accesses", "requested" } },
	};
	const struct opt opts[] = {
		OPT_GPU(&p.options),
		OPT_END
	};
	const struct gpu_tool tool = {
		.usage = &usage, .opts = opts, .options = &p.options, .ctx = &p,
		.interval = true, .config = config, .frame = frame, .report = report, .close = finish,
	};

	return gpu_tool_run(&tool, argc, argv);
}
