// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudabounds - find memory accesses in CUDA kernels that are outside of all allocations */
#include "base/die.h"
#include "cudabounds/outside.h"
#include "ptx/instrument.h"
#include "session/gpuprobe.h"
#include "session/tool.h"
#include "view/gpuprobe_notes.h"
#include "cudabounds.ptx.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Find memory accesses in CUDA kernels that are outside of all allocations of the program:\n"
		"what was found so far, every interval and at the end.  Needs no root.",
	.examples =
	"  cudabounds --blocks 1/64 -- ./train 1 # the accesses of every 64th block\n"
	"  cudabounds -r 20 -K 'add*' -- ./train 1 # more examples of each place\n"
	"  cudabounds -j -K 'add*' -- ./train 1 # JSON lines\n",
};

struct probe {
	struct session session;
	struct event_loop events;
	struct gpuprobe gpuprobe;
	struct gpuprobe_modules modules;
	struct outsides outsides;
	long examples;
};

/* What the probe needs of the library in the program. */
static const char *config(void *ctx, struct gpuprobe_config *c)
{
	(void)ctx;
	c->scheme = PTX_DEP;
	c->spaces = PTX_GLOBAL | PTX_GENERIC | PTX_READONLY;
	c->ops = PTX_LOAD | PTX_STORE | PTX_ATOMIC | PTX_REDUCE;
	c->flags |= GPUPROBE_RANGES;
	c->limit = 8192;	/* records of a group of SMs between two readings: two of an access */
	c->probe_size = sizeof(cudabounds_ptx) - 1;
	return cudabounds_ptx;
}

static const char *frame(void *ctx, const struct gpuprobe_peer *peer, uint32_t kind, const void *data, size_t size)
{
	struct probe *p = ctx;
	const char *wrong = gpuprobe_modules_frame(&p->modules, peer->id, peer->pid, kind, data, size);
	struct gpuprobe_module *module;

	if (wrong || kind != GPUPROBE_RECORDS)
		return wrong;
	module = gpuprobe_modules_find(&p->modules, peer->id, ((const struct gpuprobe_records *)data)->module);
	if (module)
		outside_records(&p->outsides, &p->modules, module);
	return NULL;
}

static void report(void *ctx)
{
	struct probe *p = ctx;

	outside_report(&p->outsides, &p->modules, p->examples);
}

static int finish(void *ctx, int sig)
{
	struct probe *p = ctx;

	report(p);
	if (p->session.json)
		gpuprobe_notes_json(&p->modules.images);
	if (p->outsides.dropped)
		warning(0, "%llu accesses left out of the examples", p->outsides.dropped);
	outside_free(&p->outsides);
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
		.examples = 3,
	};
	const struct opt opts[] = {
		OPT_GPU(&p.session, &p.gpuprobe),
		OPT_NUM('r', "rows", "ROWS", &p.examples, 1, "print at most ROWS examples of each place; default: 3"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .session = &p.session, .events = &p.events,
		.interval = true, .gpuprobe = &p.gpuprobe, .stop = finish, .ctx = &p,
	};

	return tool_run(&tool, argc, argv);
}
