// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudasynclatency - show how long threads wait for the GPU, as histograms */
#include <stdio.h>
#include "model/call_stats.h"
#include "base/clock.h"
#include "abi/cudasynclatency.h"
#include "api/cuda_fn.h"
#include "model/aggregate.h"
#include "model/running.h"
#include "cli/hist.h"
#include "cli/out.h"
#include "cli/row.h"
#include "sym/stack.h"
#include "session/tool.h"
#include "view/call_view.h"
#include "view/columns.h"
#include "view/device_field.h"
#include "view/folded.h"
#include "view/running_view.h"
#include "view/stack_view.h"
#include "view/stream_field.h"
#include "cudasynclatency/wait_threads.h"
#include "cudasynclatency/wait_view.h"
#include "cudasynclatency.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show how long threads wait for the GPU, by function, as histograms, and the share of its\n"
		"time that each thread waited: what is new every interval, and the rest at the end.",
	.examples =
	"  cudasynclatency -p 181              # one process, until Ctrl-C\n"
	"  cudasynclatency -i -P 5             # implicit waits too, by process, every 5 seconds\n"
	"  cudasynclatency -k -p 181 -d 10     # where the waits are, for 10 seconds\n"
	"  cudasynclatency --per-stream -p 181 # which stream is waited for\n"
	"  cudasynclatency --device 0,1 -c ./train # waits for two devices\n"
	"  cudasynclatency -O -jc './train 10' # whether threads sleep or spin, as JSON lines\n"
	"  cudasynclatency --folded -p 181 -d 10 >waits # for flamegraph.pl --countname ns\n",
};

struct wait_row {
	struct call_stats calls;
	unsigned int device;
	unsigned long long stream, off;
	const unsigned long long *off_slots;
};

OUT_WORD(row_type, "waits");

#define AT(f) offsetof(struct wait_row, f)
static const struct field all_fields[] = {	/* for JSON; show() prints text */
	{ "type", NULL, 0, &row_type, 0 },
	{ "time", NULL, 0, OUT_TIME, AT(calls.time) },
	{ "pid", NULL, 0, OUT_INT, AT(calls.pid) },
	{ "comm", NULL, 0, OUT_STR, AT(calls.comm) },
	{ "container", NULL, 0, OUT_STR, AT(calls.container) },
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },
	{ "stream", NULL, 0, OUT_STREAM, AT(stream) },
	{ "func", NULL, 0, OUT_STR, AT(calls.func) },
	{ "complete", NULL, 0, OUT_BOOL, AT(calls.complete) },
	{ "count", NULL, 0, OUT_UINT, AT(calls.count) },
	{ "total_ns", NULL, 0, OUT_UINT, AT(calls.total) },
	{ "min_ns", NULL, 0, OUT_UINT, AT(calls.min) },
	{ "max_ns", NULL, 0, OUT_UINT, AT(calls.max) },
	{ "p50_ns", NULL, 0, OUT_UINT, AT(calls.p50) },
	{ "p95_ns", NULL, 0, OUT_UINT, AT(calls.p95) },
	{ "p99_ns", NULL, 0, OUT_UINT, AT(calls.p99) },
	{ "hist", NULL, 0, OUT_HIST, AT(calls.hist) },
	{ "off_cpu_ns", NULL, 0, OUT_UINT, AT(off) },
	{ "hist_off_cpu", NULL, 0, OUT_HIST, AT(off_slots) },
	{ "stack", NULL, 0, OUT_STACK, AT(calls.stack) },
	{ 0 }
};

struct waits {
	bool implicit, launches, pids, streams, stacks, off_cpu, folded;
	long slower;		/* ns */
	unsigned classes;
	struct aggregates aggregates;
	struct wait_threads threads;
	struct running running;
	struct devices_seen devices;
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];
	struct target target;
	struct event_loop events;
	struct cudasynclatency_bpf *skel;
};

static void show(const struct waits *w, const struct wait_row *r)
{
	char number[16], text[32];

	if (w->folded) {
		folded_line(r->calls.comm, r->calls.stack, r->calls.func, r->calls.total);
		return;
	}
	if (out_is_json()) {
		out_row(w->fields, r);
		return;
	}
	if (w->devices.several)
		printf("device %s, ", device_text(r->device, number));
	if (r->stream)
		printf("%s, ", stream_text(r->stream, text));
	call_stats_text(&r->calls);
	if (w->off_cpu) {
		printf("off the CPU for %s, %.1f %% of it\n", out_ns(r->off),
		       r->calls.total ? 100.0 * r->off / r->calls.total : 0);
		hist_text(r->off_slots, OUT_UNIT_NS);
	}
	if (w->stacks)
		stack_text(r->calls.stack);
	putchar('\n');
}

static void report_groups(struct waits *w, unsigned long long now)
{
	static const unsigned long long none[HIST_SLOTS];
	struct aggregate **list;
	size_t n;

	list = aggregate_sorted(&w->aggregates, true, &n);
	for (size_t i = 0; i < n; i++)
		devices_see(&w->devices, list[i]->key.device);
	for (size_t i = 0; i < n; i++) {
		const struct aggregate *g = list[i];
		const struct aggregate *off = aggregate_series(&w->aggregates, g, WAIT_OFF_CPU);
		struct wait_row r = {
			.calls = call_stats_of(g), .device = g->key.device, .stream = g->key.stream,
			.off = g->ns, .off_slots = off ? off->slots : none,
		};

		r.calls.time = now;
		r.calls.complete = early_complete(&w->target.early, g->key.pid);
		r.calls.container = w->pids ? containers_of(&w->target.containers, g->key.pid) : NULL;
		show(w, &r);
	}
	if (!n && !out_is_json() && !w->folded)
		puts(w->running.n ? "no waits have ended" : "no waits");
	free(list);
}

static void head(const struct waits *w)
{
	if (out_is_json())
		return;
	printf("[%s]", out_clock());
	if (w->target.early.processes)
		early_text(&w->target.early, "waits");
	putchar('\n');
}

static void report(void *ctx)
{
	struct waits *w = ctx;
	unsigned int epoch = aggregate_flip(&w->skel->bss->aggregate_epoch);
	unsigned long long now = clock_ns();

	aggregate_collect(&w->aggregates, w->skel->maps.aggregates, epoch);
	wait_threads_collect(&w->threads, epoch);
	early_tidy(&w->target.early);
	running_collect(&w->running);
	if (!w->folded)
		head(w);
	report_groups(w, now);
	if (w->folded) {
		wait_threads_clear(&w->threads);
	} else {
		wait_view_threads(&w->threads, &w->target.containers, now);
		running_view(&w->running);
	}
	aggregate_clear(&w->aggregates);
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct aggregate_record *r = data;
	struct waits *w = ctx;

	(void)size;
	aggregate_record(&w->aggregates, r);
	if (w->off_cpu && !record_is_process_event(&r->head))
		aggregate_add_value(aggregate_of(&w->aggregates, r, WAIT_OFF_CPU), r->ns, 0, r->ns);
	return 0;
}

static void check(void *ctx)
{
	struct waits *w = ctx;

	if (w->folded && w->off_cpu)
		usage_error("--folded and --off-cpu are mutually exclusive");
	w->pids |= w->folded || w->target.json || w->streams;
	w->devices.several = w->target.devices;
	w->classes = 1 << CUDA_SYNC | (w->implicit ? CUDA_WAITS : 0) | (w->launches ? 1 << CUDA_LAUNCH : 0);
}

static void *open_skel(void *ctx)
{
	struct waits *w = ctx;

	columns_of_groups(w->fields, all_fields, w->pids, w->stacks);
	if (!w->streams)
		columns_remove(w->fields, "stream");
	if (!w->off_cpu) {
		columns_remove(w->fields, "off_cpu_ns");
		columns_remove(w->fields, "hist_off_cpu");
	}
	w->skel = cudasynclatency_bpf__open();
	if (!w->skel)
		return NULL;
	w->skel->rodata->aggregate_stacks = w->stacks;
	w->skel->rodata->aggregate_pids = w->pids;
	w->skel->rodata->aggregate_streams = w->streams;
	w->skel->rodata->wait_slower = w->slower;
	w->skel->rodata->wait_off_cpu = w->off_cpu;
	bpf_program__set_autoload(w->skel->progs.wait_switch, w->off_cpu);
	aggregate_prepare(&w->aggregates, w->skel->obj, w->target.syms);
	return w->skel;
}

static void start(void *ctx)
{
	struct waits *w = ctx;

	wait_threads_init(&w->threads, w->skel->maps.wait_slot, w->skel->maps.waiting, w->skel->bss->waiting_used,
			  w->skel->bss->waiting_shares);
	w->running = (struct running)RUNNING_OF(w->skel, &w->target, w->stacks);
	w->running.devices = &w->devices;
	running_start(&w->running);
}

static int finish(void *ctx, int status)
{
	struct waits *w = ctx;

	running_free(&w->running);
	return status;
}

int main(int argc, char **argv)
{
	struct waits waits = {
		.target = TARGET_INIT, .events = { .record = on_record, .report = report, .ctx = &waits },
	};
	int status;
	const struct opt opts[] = {
		OPT_TARGET(&waits.target),
		OPT_DEVICE(&waits.target),
		OPT_FLAG('P', "per-process", &waits.pids, "one group per process"),
		OPT_FLAG(0, "per-stream", &waits.streams, "one group per stream of a process"),
		OPT_FLAG('k', "stacks", &waits.stacks, "one group per call stack, longest total wait first"),
		OPT_STACKS(&waits.target),
		OPT_FLAG(0, "folded", &waits.folded, "print one line per stack, for flame graphs: nanoseconds"),
		OPT_FLAG('i', "implicit", &waits.implicit, "include functions that synchronize implicitly: copies, cudaFree, ..."),
		OPT_FLAG('L', "launches", &waits.launches, "include kernel launches, which wait if the queue is full"),
		OPT_TIME(0, "slower", "US", &waits.slower, VALUE_US, 0, "count only calls that took at least US microseconds"),
		OPT_FLAG('O', "off-cpu", &waits.off_cpu, "show how long the thread was off the CPU"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .interval = true, .target = &waits.target,
		.events = &waits.events, .stacks = &waits.stacks, .folded = &waits.folded,
		.classes = &waits.classes, .devices = true, .tracepoints = "scheduler, process exit and exec",
		.ctx = &waits, .check = check, .open = open_skel, .start = start, .close = finish,
	};

	status = tool_run(&tool, argc, argv);
	aggregate_free(&waits.aggregates);
	return status;
}
