// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudasynclatency - show how long threads wait for the GPU, as histograms */
#include "api/cuda_fn.h"
#include "session/tool.h"
#include "cudasynclatency/wait_report.h"
#include "cudasynclatency.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show how long threads wait for the GPU, by function, as histograms, and the share of its\n"
		"time that each thread waited: what is new every interval, and the rest at the end.",
	.examples =
	"  cudasynclatency -p 181              # one process, until Ctrl-C\n"
	"  cudasynclatency -i -P 5             # implicit waits too, by process\n"
	"  cudasynclatency -k -p 181 -d 10     # where the waits are, for 10 seconds\n"
	"  cudasynclatency --per-stream -p 181 # which stream is waited for\n"
	"  cudasynclatency --device 0,1 -c ./train # waits for two devices\n"
	"  cudasynclatency -O -jc './train 10' # sleeping or spinning, as JSON\n"
	"  cudasynclatency --folded -p 181 -d 10 >waits # flamegraph.pl --countname ns\n",
};

struct waits {
	bool implicit, launches;
	long slower;		/* ns */
	unsigned classes;
	struct wait_report report;
	struct session session;
	struct event_loop events;
	struct cudasynclatency_bpf *skel;
};

static void check(void *ctx)
{
	struct waits *w = ctx;
	struct wait_view *v = &w->report.view;

	if (v->folded && v->off_cpu)
		usage_error("--folded and --off-cpu are mutually exclusive");
	v->pids |= v->folded || w->session.json || v->streams;
	v->devices.several = w->session.devices;
	w->classes = 1 << CUDA_SYNC | (w->implicit ? CUDA_WAITS : 0) | (w->launches ? 1 << CUDA_LAUNCH : 0);
}

static void *open_skel(void *ctx)
{
	struct waits *w = ctx;
	const struct wait_view *v = &w->report.view;

	wait_row_init(&w->report.view);
	w->skel = cudasynclatency_bpf__open();
	if (!w->skel)
		return NULL;
	w->skel->rodata->aggregate_stacks = v->stacks;
	w->skel->rodata->aggregate_pids = v->pids;
	w->skel->rodata->aggregate_streams = v->streams;
	w->skel->rodata->wait_slower = w->slower;
	w->skel->rodata->wait_off_cpu = v->off_cpu;
	bpf_program__set_autoload(w->skel->progs.wait_switch, v->off_cpu);
	aggregate_prepare(&w->report.aggregates, w->skel->obj, w->session.syms);
	return w->skel;
}

static void start(void *ctx)
{
	struct waits *w = ctx;

	process_on_end(&w->session.ends, aggregate_ended, &w->report.aggregates);
	w->report.rest = w->skel->maps.aggregates;
	w->report.epoch = &w->skel->bss->aggregate_epoch;
	wait_threads_init(&w->report.threads, w->skel->maps.wait_slot, w->skel->maps.waiting,
			  w->skel->bss->waiting_used, w->skel->bss->waiting_shares);
	w->report.inflight = (struct inflight)INFLIGHT_OF(w->skel, &w->session, w->report.view.stacks);
	w->report.inflight.devices = &w->report.view.devices;
	inflight_start(&w->report.inflight);
}

static int finish(void *ctx, int status)
{
	struct waits *w = ctx;

	wait_report_free(&w->report);
	return status;
}

int main(int argc, char **argv)
{
	struct waits waits = {
		.session = SESSION_INIT, .report.session = &waits.session,
		.events = { .record = wait_report_record, .report = wait_report, .ctx = &waits.report },
	};
	struct wait_view *view = &waits.report.view;
	const struct opt opts[] = {
		OPT_TARGET(&waits.session),
		OPT_DEVICE(&waits.session),
		OPT_FLAG('P', "per-process", &view->pids, "one group per process"),
		OPT_FLAG(0, "per-stream", &view->streams, "one group per stream of a process"),
		OPT_FLAG('k', "stacks", &view->stacks, "one group per call stack, longest total wait first"),
		OPT_STACKS(&waits.session),
		OPT_FLAG(0, "folded", &view->folded, "print one line per stack, for flame graphs: nanoseconds"),
		OPT_FLAG('i', "implicit", &waits.implicit, "include functions that synchronize implicitly: copies, cudaFree, ..."),
		OPT_FLAG('L', "launches", &waits.launches, "include kernel launches, which wait if the queue is full"),
		OPT_TIME(0, "slower", "US", &waits.slower, VALUE_US, 0, "count only calls that took at least US microseconds"),
		OPT_FLAG('O', "off-cpu", &view->off_cpu, "show how long the thread was off the CPU"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .interval = true, .session = &waits.session,
		.events = &waits.events, .stacks = &view->stacks, .folded = &view->folded,
		.classes = &waits.classes, .devices = true, .tracepoints = "scheduler, process exit and exec",
		.ctx = &waits, .check = check, .open = open_skel, .start = start, .close = finish,
	};

	return tool_run(&tool, argc, argv);
}
