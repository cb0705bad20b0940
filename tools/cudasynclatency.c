// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudasynclatency - show how long threads wait for the GPU, as histograms */
#include <errno.h>
#include <stdio.h>
#include "model/call_stats.h"
#include "base/clock.h"
#include "abi/cudasynclatency.h"
#include "api/cuda_fn.h"
#include "base/die.h"
#include "session/event_loop.h"
#include "model/aggregate.h"
#include "cli/hist.h"
#include "cli/out.h"
#include "sym/syms.h"
#include "session/target.h"
#include "cudasynclatency/wait_threads.h"
#include "cudasynclatency.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show how long threads wait for the GPU, by function, as histograms, and the share of its\n"
		"time that each thread waited: every interval what is new in it, and at the end.",
	.examples =
	"  cudasynclatency -p 181              # one process, until Ctrl-C\n"
	"  cudasynclatency -i -P 5             # hidden waits too, by process, every 5 seconds\n"
	"  cudasynclatency -k -p 181 -d 10     # where are the waits, for 10 seconds\n"
	"  cudasynclatency -O -jc './train 10' # do they sleep or spin, as JSON lines\n",
};

struct row {
	struct call_stats calls;
	unsigned long long off;
	const unsigned long long *off_slots;
};

#define AT(f) offsetof(struct row, f)
enum { PID = 1, COMM, HIST = 11, OFF, OFF_HIST, STACK };
static struct field fields[] = {	/* the text is show()'s */
	{ "time", NULL, 0, OUT_TIME, AT(calls.time) },
	[PID] = { "pid", NULL, 0, OUT_INT, AT(calls.pid) },
	[COMM] = { "comm", NULL, 0, OUT_STR, AT(calls.comm) },
	{ "func", NULL, 0, OUT_STR, AT(calls.func) },
	{ "count", NULL, 0, OUT_UINT, AT(calls.count) },
	{ "total_ns", NULL, 0, OUT_UINT, AT(calls.total) },
	{ "min_ns", NULL, 0, OUT_UINT, AT(calls.min) },
	{ "max_ns", NULL, 0, OUT_UINT, AT(calls.max) },
	{ "p50_ns", NULL, 0, OUT_UINT, AT(calls.p50) },
	{ "p95_ns", NULL, 0, OUT_UINT, AT(calls.p95) },
	{ "p99_ns", NULL, 0, OUT_UINT, AT(calls.p99) },
	[HIST] = { "hist", NULL, 0, OUT_HIST, AT(calls.hist) },
	[OFF] = { "off_cpu_ns", NULL, 0, OUT_UINT, AT(off) },
	[OFF_HIST] = { "hist_off_cpu", NULL, 0, OUT_HIST, AT(off_slots) },
	[STACK] = { "stack", NULL, 0, OUT_STACK, AT(calls.stack) },
	{ 0 }
};

static struct {
	bool implicit, launches, pids, stacks, off_cpu;
	struct cudasynclatency_bpf *skel;
} waits;

static void show(const struct row *r)
{
	if (out_is_json()) {
		out_row(fields, r);
		return;
	}
	call_stats_text(&r->calls);
	if (waits.off_cpu) {
		printf("off the CPU for %s, %.1f %% of it\n", out_ns(r->off),
		       r->calls.total ? 100.0 * r->off / r->calls.total : 0);
		hist_text(r->off_slots, "nsecs", 0);
	}
	stack_text(r->calls.stack);
	putchar('\n');
}

static void report_groups(unsigned long long now)
{
	static const unsigned long long none[HIST_SLOTS];
	struct aggregate **list;
	size_t n;

	list = aggregate_sorted(true, &n);
	for (size_t i = 0; i < n; i++) {
		const struct aggregate *g = list[i], *off = aggregate_series(g, WAIT_OFF_CPU);
		struct row r = {
			.calls = call_stats_of(g), .off = g->ns, .off_slots = off ? off->slots : none,
		};

		r.calls.time = now;
		show(&r);
	}
	if (!n && !out_is_json())
		puts("no waits");
	free(list);
}

static void report(void *ctx)
{
	unsigned int epoch = aggregate_flip(&waits.skel->bss->aggregate_epoch);
	unsigned long long now = clock_ns();

	(void)ctx;
	aggregate_collect(waits.skel->maps.aggregates, epoch);
	wait_threads_collect(epoch);
	if (!out_is_json())
		printf("[%s]\n", out_clock());
	report_groups(now);
	wait_threads_report(now);
	aggregate_clear();
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct aggregate_record *r = data;

	(void)ctx, (void)size;
	aggregate_record(r);
	if (waits.off_cpu && !record_is_process_event(&r->head))
		aggregate_add_value(aggregate_of(r, WAIT_OFF_CPU), r->ns, 0, r->ns);
	return 0;
}

int main(int argc, char **argv)
{
	struct event_loop events = { .record = on_record, .report = report };
	struct target target = TARGET_INIT;
	const struct opt opts[] = {
		OPT_TARGET(&target),
		OPT_FLAG('P', "per-process", &waits.pids, "each process apart"),
		OPT_FLAG('k', "stack", &waits.stacks, "each call stack apart, the longest waits first"),
		OPT_FLAG('i', "implicit", &waits.implicit, "functions that wait on the side: copies, cudaFree, ..."),
		OPT_FLAG('L', "launches", &waits.launches, "kernel launches, which wait where the queue is full"),
		OPT_FLAG('O', "off-cpu", &waits.off_cpu, "how much of it the thread was off the CPU"),
		OPT_END
	};
	int status;

	opt_interval(argc, argv, opt_parse(argc, argv, opts, &usage), &events.interval, &events.count);
	target_init(&target);
	fields[PID].key = waits.pids ? "pid" : NULL;
	fields[COMM].key = waits.pids ? "comm" : NULL;
	fields[OFF].key = waits.off_cpu ? "off_cpu_ns" : NULL;
	fields[OFF_HIST].key = waits.off_cpu ? "hist_off_cpu" : NULL;
	fields[STACK].key = waits.stacks ? "stack" : NULL;
	if (waits.stacks)
		syms_init();

	waits.skel = cudasynclatency_bpf__open();
	if (!waits.skel)
		die(errno, "cannot open the BPF programs");
	waits.skel->rodata->aggregate_stacks = waits.stacks;
	waits.skel->rodata->aggregate_pids = waits.pids;
	waits.skel->rodata->wait_off_cpu = waits.off_cpu;
	bpf_program__set_autoload(waits.skel->progs.wait_switch, waits.off_cpu);
	aggregate_prepare(waits.skel->obj, waits.stacks);
	target_prepare(&target, waits.skel->obj);
	if (cudasynclatency_bpf__load(waits.skel))
		die(errno, "cannot load the BPF programs");
	if (cudasynclatency_bpf__attach(waits.skel))
		die(errno, "cannot attach to the scheduler or the ends of processes");
	target_attach(&target, 1 << CUDA_SYNC | (waits.implicit ? CUDA_WAITS : 0) |
		      (waits.launches ? 1 << CUDA_LAUNCH : 0));

	wait_threads_init(waits.skel->maps.wait_slot, waits.skel->maps.waiting,
			  waits.skel->bss->waiting_used);
	events.ring = waits.stacks ? waits.skel->maps.events : NULL;
	events.lost = waits.skel->bss->lost;
	status = event_loop_run(&target, &events);
	if (!events.counted_out)
		report(NULL);
	status = target_finish(&target, status);
	event_loop_lost(&events);
	cudasynclatency_bpf__destroy(waits.skel);
	return status;
}
