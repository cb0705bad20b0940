// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudalaunchtop - show which CUDA kernels are launched how often, by name */
#include <errno.h>
#include <unistd.h>
#include "probe/bpf_mmap.h"
#include "api/cuda_fn.h"
#include "abi/cudalaunchtop.h"
#include "base/die.h"
#include "session/event_loop.h"
#include "cudalaunchtop/launch_probes.h"
#include "cudalaunchtop/launch_report.h"
#include "cudalaunchtop/launch_screen.h"
#include "cudalaunchtop/launch_view.h"
#include "cudalaunchtop/launches.h"
#include "sym/syms.h"
#include "session/target.h"
#include "cli/top_screen.h"
#include "cudalaunchtop.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show which CUDA kernels are launched how often, by name: on a terminal live, each\n"
		"interval (1 second) in place; else in blocks, each interval (none) and at the end.",
	.examples =
	"  cudalaunchtop                       # every process, live\n"
	"  cudalaunchtop -p 181 -b 2 5         # one process, 5 blocks, every 2 seconds\n"
	"  cudalaunchtop -bc './train 10'      # what the command launched\n"
	"  cudalaunchtop -k -r 3 -p 181 -d 1   # the 3 call sites with the most launches\n"
	"  cudalaunchtop -xj -p 181 1          # failed launches too, as JSON\n",
};

static struct launch_view view;
static struct launch_probes probes;

static int on_record(void *ctx, void *data, size_t size)
{
	(void)ctx;
	launches_record(view.launches, data, size);
	return 0;
}

static void scan(void *ctx, int pid)
{
	launches_scan(ctx, pid);
}

static void report(void *ctx)
{
	(void)ctx;
	if (screen_is_open())
		launch_screen_update(&view);
	else
		launch_report(&view, false);
}

static bool tick(void *ctx)
{
	(void)ctx;
	launch_probes_tick(&probes);
	return !screen_is_open() || launch_screen_keys(&view);
}

int main(int argc, char **argv)
{
	struct event_loop events = { .record = on_record, .report = report, .tick = tick };
	struct target target = TARGET_INIT;
	bool batch = false, live;
	const struct opt opts[] = {
		OPT_TARGET(&target),
		OPT_FLAG('b', "batch", &batch, "blocks of text also on a terminal"),
		OPT_FLAG('P', "per-process", &view.by_process, "by process, not by kernel"),
		OPT_FLAG('k', "stack", &view.stacks, "by call site too, with call stacks"),
		OPT_FLAG('f', "full", &view.full, "kernel names with parameters"),
		OPT_FLAG('x', "failed", &view.failed, "count failed launches: needs return probes"),
		OPT_NUM('r', "rows", "ROWS", &view.rows, 1, "at most so many; default: 20, JSON and live all"),
		OPT_CHOICE('s', "sort", LAUNCH_SORT_WORDS, &view.sort, "what comes first; default: launches"),
		OPT_END
	};
	struct cudalaunchtop_bpf *skel;
	int status;

	opt_interval(argc, argv, opt_parse(argc, argv, opts, &usage), &events.interval, &events.count);
	if (view.by_process && view.stacks)
		usage_error("--per-process and --stack exclude each other");
	target_init(&target);
	target.syms = syms_new();
	target.return_classes = 1 << CUDA_NAME | (view.failed ? 1 << CUDA_LAUNCH : 0);
	if (target.layer == TARGET_LAYER_ALL && !view.failed && !view.stacks)
		target.toggle_classes = 1 << CUDA_LAUNCH;

	skel = cudalaunchtop_bpf__open();
	if (!skel)
		die(errno, "cannot open the BPF programs");
	skel->rodata->launch_failures = view.failed;
	skel->rodata->launch_stacks = view.stacks;
	skel->rodata->launch_pairs = target.layer == TARGET_LAYER_ALL;
	bpf_mmap_per_cpu(skel->maps.quick, LAUNCH_SLOTS);
	target_prepare(&target, skel->obj);
	if (cudalaunchtop_bpf__load(skel))
		die(errno, "cannot load the BPF programs");
	if (cudalaunchtop_bpf__attach(skel))
		die(errno, "cannot attach to the ends of processes");
	view.launches = launches_new(target.syms, skel->maps.counts, skel->maps.quick,
				     target.pid_list || target.command);
	launch_probes_init(&probes, &target, view.launches, &skel->bss->launches_refused);
	target_attach(&target, 1 << CUDA_LAUNCH | 1 << CUDA_NAME);

	syms_each(target.syms, scan, view.launches);

	launch_view_start(&view);
	launch_screen_init(&view);
	view.screen.who = target_who(&target);
	if (!events.interval && !target.json && isatty(STDOUT_FILENO))
		events.interval = 1;
	live = !batch && !target.json && screen_open();
	events.ring = skel->maps.events;
	events.lost = skel->bss->lost;
	status = event_loop_run(&target, &events);
	screen_close();
	if (live || !events.counted_out)
		launch_report(&view, live || !events.interval);
	status = target_finish(&target, status);
	event_loop_lost(&events);
	launches_free(view.launches);
	syms_free(target.syms);
	cudalaunchtop_bpf__destroy(skel);
	return status;
}
