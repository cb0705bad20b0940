// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudalaunchtop - show which CUDA kernels are launched how often, by name */
#include <stdlib.h>
#include "bpf/bpf_mmap.h"
#include "api/cuda_fn.h"
#include "abi/launch.h"
#include "session/live.h"
#include "cudalaunchtop/launch_probes.h"
#include "cudalaunchtop/launch_report.h"
#include "cudalaunchtop/launch_screen.h"
#include "cudalaunchtop/launch_view.h"
#include "model/launches.h"
#include "sym/syms.h"
#include "session/tool.h"
#include "cli/top_screen.h"
#include "cudalaunchtop.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show how often CUDA kernels are launched, by name: on a terminal live in place, every\n"
		"interval (1 second); otherwise in blocks, every interval (none) and at the end.",
	.examples =
	"  cudalaunchtop                       # every process, live\n"
	"  cudalaunchtop -p 181 -b 2 5         # one process, 5 blocks, every 2 seconds\n"
	"  cudalaunchtop -bc './train 10'      # what the command launched\n"
	"  cudalaunchtop --device 0,1 -bc ./train # launches on two devices\n"
	"  cudalaunchtop --per-stream -p 181 -b 5 # what is launched in which stream\n"
	"  cudalaunchtop -k -r 3 -p 181 -d 1   # the 3 call sites with the most launches\n"
	"  cudalaunchtop -xj -p 181 1          # failed launches too, as JSON\n"
	"  cudalaunchtop --folded -p 181 -d 10 >launches # flamegraph.pl input\n",
};

/* Bytes of counters if one process, or a command, is traced. */
enum { COUNTERS_ALONE = 128 << 20 };

struct top {
	struct launch_view view;
	struct launch_probes probes;
	bool batch, live;
	char *who;
	struct session session;
	struct event_loop events;
	struct cudalaunchtop_bpf *skel;
};

static void report(void *ctx)
{
	struct top *t = ctx;

	preexisting_tidy(&t->session.preexisting);
	if (screen_is_open())
		launch_screen_update(&t->view);
	else
		launch_report(&t->view, false);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct top *t = ctx;

	launches_record(t->view.launches, data, size);
	return 0;
}

static bool tick(void *ctx)
{
	struct top *t = ctx;

	launch_probes_tick(&t->probes);
	launches_tick(t->view.launches);
	return !screen_is_open() || top_view_keys(&t->view.screen);
}

static void check(void *ctx)
{
	struct top *t = ctx;
	const struct launch_view *v = &t->view;

	if (v->by_process && v->stacks)
		usage_error("--per-process and --stacks are mutually exclusive");
	t->view.devices.several = t->session.devices;
	t->session.probes.return_classes = 1 << CUDA_NAME | CUDA_DEVICE_CLASSES | (v->failed ? 1 << CUDA_LAUNCH : 0);
	if (t->session.layer == SESSION_LAYER_ALL && !v->failed && !v->stacks)
		t->session.probes.detachable_classes = 1 << CUDA_LAUNCH;
}

static void *open_skel(void *ctx)
{
	struct top *t = ctx;

	session_need_syms(&t->session);
	t->skel = cudalaunchtop_bpf__open();
	if (!t->skel)
		return NULL;
	t->skel->rodata->launch_failures = t->view.failed;
	t->skel->rodata->launch_stacks = t->view.stacks;
	t->skel->rodata->launch_streams = t->view.streams;
	t->skel->rodata->launch_pairs = t->session.layer == SESSION_LAYER_ALL;
	bpf_mmap_per_cpu(t->skel->maps.quick, LAUNCH_SLOTS);
	return t->skel;
}

static void loaded(void *ctx)
{
	struct top *t = ctx;

	t->view.launches = launches_new(t->session.syms, t->skel->maps.counts, t->skel->maps.quick,
					&t->skel->bss->counts_shares, t->session.pid_list || t->session.command);
	if (session_is_alone(&t->session)) {
		t->view.launches->counters.quota.limit = COUNTERS_ALONE;
		t->view.launches->counters.quota.whole = true;
	}
	process_on_end(&t->session.ends, launches_ended, t->view.launches);
	t->session.reads_at_exec = true;
	launch_probes_init(&t->probes, &t->session, t->view.launches, &t->skel->bss->launches_refused);
}

static void scan(void *ctx, int pid)
{
	launches_scan(ctx, pid);
}

static void start(void *ctx)
{
	struct top *t = ctx;

	syms_each(t->session.syms, scan, t->view.launches);
	t->view.preexisting = &t->session.preexisting;
	t->view.containers = &t->session.containers;
	launch_view_start(&t->view);
	launch_screen_init(&t->view);
	t->view.screen.who = t->who = session_who(&t->session);
	t->live = !t->view.folded && live_start(&t->session, &t->events, t->batch);
}

static int stop(void *ctx, int sig)
{
	struct top *t = ctx;

	screen_close();
	if (t->live || !t->events.counted_out)
		launch_report(&t->view, t->live || !t->events.interval_ns);
	if (launches_impossible(t->view.launches) && !t->view.failed)
		warning(0, "%llu launches had a grid or block that no GPU can launch: they failed (-x counts all failures)",
			launches_impossible(t->view.launches));
	return sig;
}

static int finish(void *ctx, int status)
{
	struct top *t = ctx;

	launches_free(t->view.launches);
	free(t->who);
	return status;
}

int main(int argc, char **argv)
{
	struct top top = {
		.session = SESSION_INIT,
		.events = { .record = on_record, .report = report, .tick = tick, .ctx = &top },
	};
	const unsigned classes = 1 << CUDA_LAUNCH | 1 << CUDA_NAME;
	const struct opt opts[] = {
		OPT_TARGET(&top.session),
		OPT_DEVICE(&top.session),
		OPT_FLAG('b', "batch", &top.batch, "print blocks of text even on a terminal"),
		OPT_FLAG('P', "per-process", &top.view.by_process, "show processes instead of kernels"),
		OPT_FLAG(0, "per-stream", &top.view.streams, "show each stream separately"),
		OPT_FLAG('k', "stacks", &top.view.stacks, "show each call site separately, with call stacks"),
		OPT_STACKS(&top.session),
		OPT_FLAG(0, "folded", &top.view.folded, "print one line per stack, for flame graphs: launches"),
		OPT_FLAG('f', "full", &top.view.full, "print kernel names with parameters"),
		OPT_FLAG('x', "failed", &top.view.failed, "also count failed launches; requires return probes"),
		OPT_NUM('r', "rows", "ROWS", &top.view.rows, 1, "print at most ROWS rows; default: 20, all in JSON and live"),
		OPT_CHOICE('s', "sort", LAUNCH_SORT_WORDS, &top.view.sort, "sort order; default: launches"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .interval = true, .session = &top.session,
		.events = &top.events, .stacks = &top.view.stacks, .folded = &top.view.folded,
		.classes = &classes, .devices = true, .ctx = &top, .check = check,
		.open = open_skel, .loaded = loaded, .start = start, .stop = stop, .close = finish,
	};

	return tool_run(&tool, argc, argv);
}
