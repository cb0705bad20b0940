// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudamemcpysize - show sizes and bandwidth of CUDA copies as histograms */
#include "api/cuda_fn.h"
#include "session/tool.h"
#include "cudamemcpysize/copy_report.h"
#include "cudamemcpysize.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show the sizes of CUDA copies as histograms by direction, synchronous and asynchronous\n"
		"separately: what is new every interval, and the rest at the end.",
	.examples =
	"  cudamemcpysize -p 181               # one process, until Ctrl-C\n"
	"  cudamemcpysize -P 5                 # each process, every 5 seconds\n"
	"  cudamemcpysize -k --direction HtoD -m 1m -p 181 -d 10 # large copies\n"
	"  cudamemcpysize --per-stream -p 181 # each stream of a process separately\n"
	"  cudamemcpysize --device 0,1 -c ./train # copies on two devices\n"
	"  cudamemcpysize --bandwidth -jc './train 10' # one command, as JSON lines\n"
	"  cudamemcpysize --folded -p 181 -d 10 >bytes # flamegraph.pl --countname bytes\n",
};

#define DIRECTIONS "HtoD|DtoH|DtoD|HtoH|PtoP|default"

struct copies {
	bool memset, times, bandwidths;
	int direction;		/* index into DIRECTIONS; -1 = all */
	long min, slower;	/* bytes; ns */
	unsigned classes;
	struct copy_report report;
	struct session session;
	struct event_loop events;
	struct cudamemcpysize_bpf *skel;
};

static void check(void *ctx)
{
	struct copies *c = ctx;
	struct copy_view *v = &c->report.view;

	if (c->times && c->bandwidths)
		usage_error("--time and --bandwidth are mutually exclusive");
	if (c->memset && c->direction >= 0)
		usage_error("--memset and --direction are mutually exclusive");
	if (v->folded && (c->times || c->bandwidths))
		usage_error("--folded shows no histograms; it cannot be combined with --time or --bandwidth");
	v->pids |= v->folded || c->session.json || v->streams;
	v->devices.several = c->session.devices;
	v->shown = c->times ? COPY_TIMES : c->bandwidths ? COPY_BANDWIDTHS : COPY_SIZES;
	c->classes = 1 << CUDA_COPY | (c->memset ? 1 << CUDA_SET : 0);
}

static void *open_skel(void *ctx)
{
	struct copies *c = ctx;
	const struct copy_view *v = &c->report.view;

	copy_row_init(&c->report.view);
	c->skel = cudamemcpysize_bpf__open();
	if (!c->skel)
		return NULL;
	c->skel->rodata->aggregate_stacks = v->stacks;
	c->skel->rodata->aggregate_pids = v->pids;
	c->skel->rodata->aggregate_streams = v->streams;
	c->skel->rodata->copy_shown = v->shown;
	c->skel->rodata->copy_direction = c->direction + 1;
	c->skel->rodata->copy_min = c->min;
	c->skel->rodata->copy_slower = c->slower;
	aggregate_prepare(&c->report.aggregates, c->skel->obj, c->session.syms);
	return c->skel;
}

static void start(void *ctx)
{
	struct copies *c = ctx;

	process_on_end(&c->session.ends, aggregate_ended, &c->report.aggregates);
	c->report.rest = c->skel->maps.aggregates;
	c->report.epoch = &c->skel->bss->aggregate_epoch;
	c->report.inflight = (struct inflight)INFLIGHT_OF(c->skel, &c->session, c->report.view.stacks);
	c->report.inflight.devices = &c->report.view.devices;
	inflight_start(&c->report.inflight);
}

static int finish(void *ctx, int status)
{
	struct copies *c = ctx;

	copy_report_free(&c->report);
	return status;
}

int main(int argc, char **argv)
{
	struct copies copies = {
		.direction = -1, .session = SESSION_INIT, .report.session = &copies.session,
		.events = { .record = copy_report_record, .report = copy_report, .ctx = &copies.report },
	};
	struct copy_view *view = &copies.report.view;
	const struct opt opts[] = {
		OPT_TARGET(&copies.session),
		OPT_DEVICE(&copies.session),
		OPT_FLAG('P', "per-process", &view->pids, "one group per process"),
		OPT_FLAG(0, "per-stream", &view->streams, "one group per stream of a process"),
		OPT_FLAG('k', "stacks", &view->stacks, "one group per call stack, most bytes first"),
		OPT_STACKS(&copies.session),
		OPT_FLAG(0, "folded", &view->folded, "print one line per stack, for flame graphs: bytes"),
		OPT_CHOICE(0, "direction", DIRECTIONS, &copies.direction, "count only copies in this direction"),
		OPT_SIZE('m', "min", "SIZE", &copies.min, "count only copies of at least SIZE bytes"),
		OPT_TIME(0, "slower", "US", &copies.slower, VALUE_US, 0, "count only calls that took at least US microseconds"),
		OPT_FLAG(0, "memset", &copies.memset, "include memset"),
		OPT_FLAG(0, "time", &copies.times, "show histograms of times; synchronous copies only"),
		OPT_FLAG(0, "bandwidth", &copies.bandwidths, "show histograms of bandwidths; synchronous copies only"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .interval = true, .session = &copies.session,
		.events = &copies.events, .stacks = &view->stacks, .folded = &view->folded,
		.classes = &copies.classes, .devices = true, .ctx = &copies, .check = check, .open = open_skel,
		.start = start, .close = finish,
	};

	return tool_run(&tool, argc, argv);
}
