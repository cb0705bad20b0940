// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudacoalesce - show which memory accesses in CUDA kernels are not coalesced */
#include "cudacoalesce/lines_report.h"
#include "ptx/instrument.h"
#include "session/gpuprobe.h"
#include "session/tool.h"
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
	struct session session;
	struct event_loop events;
	struct gpuprobe gpuprobe;
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

static int finish(void *ctx, int sig)
{
	struct probe *p = ctx;

	report(p);
	if (p->session.json)
		gpuprobe_notes_json(&p->modules.images);
	gpuprobe_notes(&p->modules, p->gpuprobe.peers.peers.n, p->session.verbose);
	gpuprobe_modules_free(&p->modules);
	return sig;
}

int main(int argc, char **argv)
{
	struct probe p = {
		.session = SESSION_INIT,
		.events = { .report = report, .ctx = &p },
		.gpuprobe = { GPUPROBE_INIT, .config = config, .frame = frame },
		.report = { .below = 101 },
	};
	const struct opt opts[] = {
		OPT_GPU(&p.session, &p.gpuprobe),
		OPT_NUM(0, "below", "PERCENT", &p.report.below, 1, "only accesses with less efficiency than PERCENT"),
		OPT_FLAG('H', "hist", &p.report.hist, "print histograms of lines, too"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .session = &p.session, .events = &p.events,
		.interval = true, .gpuprobe = &p.gpuprobe, .stop = finish, .ctx = &p,
	};

	return tool_run(&tool, argc, argv);
}
