// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudaleak - show what CUDA memory is allocated and not freed, by call stack */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include "base/clock.h"
#include "base/die.h"
#include "session/event_loop.h"
#include "cudaleak/leak_view.h"
#include "cli/out.h"
#include "sym/syms.h"
#include "session/target.h"
#include "cudaleak.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show CUDA memory that is allocated and not freed, by process, kind of memory and call\n"
		"stack, largest first: every interval (5 seconds; with -c and --folded none), at the\n"
		"end, and for each process that exits what it never freed.",
	.examples =
	"  cudaleak -p 181                     # one process, every 5 seconds\n"
	"  cudaleak -c './train 10'            # what the command never freed\n"
	"  cudaleak -o 60000 -T 3 -p 181 30    # older than a minute, the 3 largest, every 30 s\n"
	"  cudaleak --folded -c ./train >leaks # for flamegraph.pl --countname bytes\n",
};

static struct {
	struct leak_view view;
	long min, max;
	bool reported;		/* of a process that exited */
	unsigned long long allocs, frees;
} leak = { .view.options.sample = 1, .max = LONG_MAX };

static void report(void *ctx)
{
	const struct mem_process *h;
	bool any = false;

	(void)ctx;
	leak.view.options.now = clock_ns();
	for (h = memory_processes; h; h = h->hh.next) {
		if (!h->allocations && !h->unknown)
			continue;
		leak_view_holder(&leak.view, h, "interval");
		any = true;
	}
	if (!any && !out_is_json() && !leak.view.folded)
		printf("[%s] nothing held: %llu allocations and %llu frees %s\n", out_clock(),
		       leak.allocs, leak.frees, leak.view.options.sample > 1 ? "recorded" : "seen");
}

static void on_gone(const struct process_event *e)
{
	struct mem_process *process = memory_process(e);

	leak.view.options.now = e->time;
	leak_view_holder(&leak.view, process, "exit");
	leak.reported = true;
	memory_forget(process);
	syms_forget(e->head.pid);
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct memory_event *e = data;

	(void)ctx, (void)size;
	if (record_is_process_event(data)) {
		on_gone(data);
		return 0;
	}
	memory_apply(e, stack_get(e->head.pid, e->stack, e->head.frames));
	leak.allocs += cuda_fns[e->head.kind].class == CUDA_ALLOC;
	leak.frees += cuda_fns[e->head.kind].class == CUDA_FREE;
	return 0;
}

int main(int argc, char **argv)
{
	struct event_loop events = { .record = on_record, .report = report, .interval = -1 };
	struct target target = TARGET_INIT;
	const struct opt opts[] = {
		OPT_TARGET(&target),
		OPT_FLAG('a', "each", &leak.view.options.each, "each allocation, not groups by stack"),
		OPT_NUM('o', "older", "MS", &leak.view.options.older_ms, 0, "only what is older than this"),
		OPT_SIZE('z', "min-size", "SIZE", &leak.min, "only allocations of at least SIZE"),
		OPT_SIZE('Z', "max-size", "SIZE", &leak.max, "only allocations of at most SIZE"),
		OPT_NUM('T', "top", "N", &leak.view.top, 1, "the N largest; default: 10, with -a and --folded all"),
		OPT_FLAG('C', "totals", &leak.view.totals, "totals without call stacks: costs less"),
		OPT_NUM('s', "sample", "N", &leak.view.options.sample, 1, "record one allocation in N, estimate the rest"),
		OPT_FLAG(0, "folded", &leak.view.folded, "stacks on one line, for flame graphs, at the end"),
		OPT_END
	};
	struct cudaleak_bpf *skel;
	int status;

	opt_interval(argc, argv, opt_parse(argc, argv, opts, &usage), &events.interval, &events.count);
	if (leak.view.folded && (target.json || leak.view.totals))
		usage_error("--folded excludes --json and --totals");
	if (leak.min > leak.max)
		usage_error("--min-size is larger than --max-size");
	if (!leak.view.top)
		leak.view.top = leak.view.options.each ? LONG_MAX : 10;
	if (events.interval < 0)
		events.interval = target.command || leak.view.folded ? 0 : 5;
	target_init(&target);
	leak.view.filtered = leak.min || leak.max != LONG_MAX || leak.view.options.sample > 1;
	leak_view_init(&leak.view);
	if (!leak.view.totals)
		syms_init();

	skel = cudaleak_bpf__open();
	if (!skel)
		die(errno, "cannot open the BPF programs");
	skel->rodata->memory_stacks = !leak.view.totals;
	skel->rodata->memory_min = leak.min;
	skel->rodata->memory_max = leak.max;
	skel->rodata->memory_sample = leak.view.options.sample;
	target_prepare(&target, skel->obj);
	if (cudaleak_bpf__load(skel))
		die(errno, "cannot load the BPF programs");
	if (cudaleak_bpf__attach(skel))
		die(errno, "cannot attach to the ends of processes");
	target_attach(&target, MEMORY_CLASSES);

	events.ring = skel->maps.events;
	events.lost = skel->bss->lost;
	status = event_loop_run(&target, &events);
	if (!events.counted_out && (memory_processes || !leak.reported))
		report(NULL);
	status = target_finish(&target, status);
	event_loop_lost(&events);
	cudaleak_bpf__destroy(skel);
	return status;
}
