// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudacoalesce - show which memory accesses in CUDA kernels are not coalesced */
#include "cudacoalesce/lines_report.h"
#include "ptx/instrument.h"
#include "session/gpuprobe_tool.h"
#include "view/gpuprobe_notes.h"
#include "cudacoalesce.ptx.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show how many lines and sectors of memory warps touch in each access, those that waste\n"
		"the most memory traffic first: what was counted so far, every interval and at the end.\n"
		"Needs no root.",
	.examples =
	"  cudacoalesce --blocks 1/64 -- ./train 1 # the accesses of every 64th block\n"
	"  cudacoalesce --below 50 -H -K 'add*' -- ./train 1 # the worst, with histograms\n"
	"  cudacoalesce -j -K 'add*' -- ./train 1 # JSON lines\n",
};

struct probe {
	struct gpuprobe_options options;
	struct gpuprobe_modules modules;
	struct lines_report report;
};

/* What the probe needs of the library in the program. */
static const char *config(void *ctx, struct gpuprobe_config *c)
{
	(void)ctx;
	c->scheme = PTX_DEP;
	c->spaces = PTX_GLOBAL | PTX_GENERIC | PTX_READONLY;
	c->ops = PTX_LOAD | PTX_STORE | PTX_ATOMIC | PTX_REDUCE;
	c->probe_size = sizeof(cudacoalesce_ptx) - 1;
	return cudacoalesce_ptx;
}

static const char *frame(void *ctx, const struct gpuprobe_peer *peer, uint32_t kind, const void *data, size_t size)
{
	struct probe *p = ctx;

	return gpuprobe_modules_frame(&p->modules, peer->id, peer->pid, kind, data, size);
}

static void report(void *ctx)
{
	struct probe *p = ctx;

	lines_report(&p->report, &p->modules);
}

static void finish(void *ctx, int sig, unsigned left)
{
	struct probe *p = ctx;

	(void)sig;
	report(p);
	if (p->options.json)
		gpuprobe_notes_json(&p->modules.images);
	gpuprobe_notes(&p->modules, left, p->options.verbose);
	gpuprobe_modules_free(&p->modules);
}

int main(int argc, char **argv)
{
	struct probe p = {
		.options = GPU_OPTIONS_INIT,
		.report = { .below = 101 },
	};
	const struct opt opts[] = {
		OPT_GPU(&p.options),
		OPT_NUM(0, "below", "PERCENT", &p.report.below, 1, "only accesses with less efficiency than PERCENT"),
		OPT_FLAG('H', "hist", &p.report.hist, "print histograms of lines, too"),
		OPT_END
	};
	const struct gpuprobe_tool tool = {
		.usage = &usage, .opts = opts, .options = &p.options, .ctx = &p,
		.interval = true, .config = config, .frame = frame, .report = report, .close = finish,
	};

	return gpuprobe_tool_run(&tool, argc, argv);
}
