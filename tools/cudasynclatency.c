// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudasynclatency - show how long threads wait for the GPU, as histograms */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "abi/cudasynclatency.h"
#include "abi/launch.h"
#include "abi/nccl_event.h"
#include "api/cuda_fn.h"
#include "base/clock.h"
#include "cli/hist.h"
#include "cli/row.h"
#include "cudasynclatency/nccl_waits.h"
#include "cudasynclatency/wait_threads.h"
#include "model/call_stats.h"
#include "inflight/inflight.h"
#include "pprof/profile.h"
#include "session/preexisting.h"
#include "session/tool.h"
#include "sym/stack.h"
#include "view/call_view.h"
#include "view/columns.h"
#include "view/stack_view.h"
#include "inflight/inflight_view.h"
#include "cudasynclatency.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show how long threads wait for the GPU, by function, as histograms, and the share of its\n"
		"time that each thread waited: new waits every interval, and the rest at the end.",
	.examples =
	"  cudasynclatency -p 181              # one process, until Ctrl-C\n"
	"  cudasynclatency -i -P 5             # implicit waits too, by process\n"
	"  cudasynclatency -k -p 181 -d 10     # where the waits are, for 10 seconds\n"
	"  cudasynclatency --per-stream -p 181 # which stream is waited for\n"
	"  cudasynclatency --device 0,1 -c ./train # waits for two devices\n"
	"  cudasynclatency -O -jc './train 10' # sleeping or spinning, as JSON\n"
	"  cudasynclatency --folded -p 181 -d 10 >waits # flamegraph.pl --countname ns\n"
	"  cudasynclatency --pprof waits.pb.gz -c ./train # for go tool pprof\n",
};

static const struct profile_kind waited = { .values = { { "wait", "nanoseconds" }, { "waits", "count" } } };

struct wait_row {
	struct call_stats calls;
	unsigned int device;		/* as in abi/device.h */
	unsigned long long stream;	/* as in abi/stream.h; 0: not grouped by stream */
	unsigned long long off;		/* ns of calls.total off the CPU */
	unsigned long long runnable;	/* ns of off; OUT_NONE: not known */
	struct hist_spread off_spread;	/* of that time for each call, as is … */
	const struct hist *off_hist;
};

OUT_WORD(row_type, "waits");

#define AT(f) offsetof(struct wait_row, f)
static const struct field all_fields[] = {	/* for JSON; print_text() prints text */
	{ "type", NULL, 0, &row_type, 0 },	/* waits in a function */
	{ "time", NULL, 0, OUT_TIME, AT(calls.time) },
	{ "pid", NULL, 0, OUT_INT, AT(calls.pid) },
	{ "comm", NULL, 0, OUT_STR, AT(calls.comm) },	/* of the first thread seen in a call */
	{ "container", NULL, 0, OUT_STR, AT(calls.container) },
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },	/* waited for; null if none or unknown */
	{ "stream", NULL, 0, OUT_STREAM, AT(stream) },	/* with --per-stream: waited for; null if none */
	{ "func", NULL, 0, OUT_STR, AT(calls.func) },
	{ "complete", NULL, 0, OUT_BOOL, AT(calls.complete) },
	{ "count", NULL, 0, OUT_UINT, AT(calls.count) },	/* calls that returned, including failed ones */
	{ "total_ns", NULL, 0, OUT_UINT, AT(calls.total) },	/* ns: of these calls */
	{ "min_ns", NULL, 0, OUT_UINT, AT(calls.times.min) },	/* ns: shortest */
	{ "max_ns", NULL, 0, OUT_UINT, AT(calls.times.max) },	/* ns: longest */
	{ "p50_ns", NULL, 0, OUT_UINT, AT(calls.times.p50) },	/* ns: median */
	{ "p95_ns", NULL, 0, OUT_UINT, AT(calls.times.p95) },	/* ns: 95th percentile */
	{ "p99_ns", NULL, 0, OUT_UINT, AT(calls.times.p99) },	/* ns: 99th percentile */
	{ "hist", NULL, 0, OUT_HIST, AT(calls.hist) },	/* ns: calls by time */
	{ "off_cpu_ns", NULL, 0, OUT_UINT, AT(off) },	/* with --off-cpu: ns: part of total_ns off the CPU */
	{ "runnable_ns", NULL, 0, OUT_UINT, AT(runnable) },	/* with --off-cpu: ns: part of off_cpu_ns in which the thread waited for a CPU, preempted or just woken; null if unknown */
	{ "min_off_cpu_ns", NULL, 0, OUT_UINT, AT(off_spread.min) },	/* with --off-cpu: ns: shortest of a call */
	{ "max_off_cpu_ns", NULL, 0, OUT_UINT, AT(off_spread.max) },	/* with --off-cpu: ns: longest of a call */
	{ "p50_off_cpu_ns", NULL, 0, OUT_UINT, AT(off_spread.p50) },	/* with --off-cpu: ns: median */
	{ "p95_off_cpu_ns", NULL, 0, OUT_UINT, AT(off_spread.p95) },	/* with --off-cpu: ns: 95th percentile */
	{ "p99_off_cpu_ns", NULL, 0, OUT_UINT, AT(off_spread.p99) },	/* with --off-cpu: ns: 99th percentile */
	{ "hist_off_cpu", NULL, 0, OUT_HIST, AT(off_hist) },	/* with --off-cpu: ns: calls by it */
	{ "stack", NULL, 0, OUT_STACK, AT(calls.stack) },
	{ 0 }
};

static const char *const off_keys[] = {
	"off_cpu_ns", "runnable_ns", "min_off_cpu_ns", "max_off_cpu_ns", "p50_off_cpu_ns", "p95_off_cpu_ns", "p99_off_cpu_ns",
	"hist_off_cpu",
};

struct waits {
	bool pids, streams, stacks;	/* waits are also grouped by these */
	bool off_cpu, folded, implicit, launches;
	bool delays;		/* how long threads wait for a CPU is known */
	long slower;		/* ns */
	unsigned classes;
	struct devices_seen devices;	/* several: shown in text */
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];	/* for JSON */
	struct aggregates aggregates;
	struct profile profile;
	struct wait_threads threads;
	struct nccl_waits nccl;
	struct inflight inflight;
	struct session session;
	struct event_loop events;
	struct cudasynclatency_bpf *skel;
};

/* Returns the row of a group. */
static struct wait_row wait_row(struct waits *w, const struct aggregate *g, unsigned long long time)
{
	static const struct aggregate none = { .least = 1 };	/* more than .most: no values */
	const struct aggregate *off = aggregate_series(&w->aggregates, g, WAIT_OFF_CPU) ?: &none;
	struct wait_row row = {
		.calls = call_stats_of(g), .device = device_of_key(g->key.device), .stream = g->key.stream,
		.off = g->ns, .runnable = w->delays ? off->ns : OUT_NONE, .off_hist = &off->hist,
		.off_spread = hist_spread(&off->hist, off->least, off->most),
	};

	row.calls.time = time;
	row.calls.complete = process_is_complete(&w->session.processes, row.calls.pid);
	if (w->pids)
		row.calls.container = process_container(&w->session.processes, row.calls.pid);
	return row;
}

static void off_cpu(const struct wait_row *r)
{
	const struct hist_totals table = { r->calls.count, r->off, r->off_spread };

	printf("off the CPU for %s, %.1f %% of it", out_ns(r->off),
	       r->calls.total ? 100.0 * r->off / r->calls.total : 0);
	if (r->runnable != OUT_NONE)
		printf(": %s asleep, %s preempted", out_ns(r->off - r->runnable), out_ns(r->runnable));
	putchar('\n');
	hist_table(&table, OUT_UNIT_NS);
	hist_text(r->off_hist, OUT_UNIT_NS);
}

static void print_text(const struct waits *w, const struct wait_row *r)
{
	char number[16], text[32];

	if (w->devices.several)
		printf("device %s, ", device_text(r->device, number));
	if (r->stream)
		printf("%s, ", stream_text(r->stream, text));
	call_stats_text(&r->calls);
	if (w->off_cpu)
		off_cpu(r);
	if (w->stacks)
		stack_text(r->calls.stack);
	putchar('\n');
}

static void print(struct waits *w, const struct aggregate *g, unsigned long long time)
{
	struct wait_row row = wait_row(w, g, time);

	if (w->folded)
		folded_line(row.calls.comm, row.calls.stack, row.calls.func, row.calls.total);
	else if (out_is_json())
		out_row(w->fields, &row);
	else
		print_text(w, &row);
}

static void add_to_profile(struct waits *w, const struct aggregate *g)
{
	const struct call_stats s = call_stats_of(g);

	if (s.count)
		profile_add(&w->profile, s.pid, s.comm, s.stack, s.func, g->key.device,
			    (unsigned long long[PROFILE_VALUES]){ s.total, s.count });
}

static void print_all(struct waits *w, unsigned long long now)
{
	struct aggregate **groups;
	size_t n;

	groups = aggregate_sorted(&w->aggregates, true, &n);
	for (size_t i = 0; i < n; i++)
		devices_see(&w->devices, groups[i]->key.device);
	for (size_t i = 0; i < n; i++) {
		add_to_profile(w, groups[i]);
		print(w, groups[i], now);
	}
	if (!n && !out_is_json() && !w->folded)
		puts(w->inflight.n ? "no waits have ended" : "no waits");
	free(groups);
}

/* Prints the waits since the last report. */
static void report(void *ctx)
{
	struct waits *w = ctx;
	unsigned int epoch = aggregate_flip(&w->skel->bss->aggregate_epoch);
	unsigned long long now = clock_ns();

	aggregate_collect(&w->aggregates, w->skel->maps.aggregates, epoch);
	wait_threads_collect(&w->threads, epoch);
	inflight_collect(&w->inflight);
	if (!out_is_json() && !w->folded)
		preexisting_head(&w->session.processes, "", "waits");
	print_all(w, now);
	if (w->folded) {
		wait_threads_clear(&w->threads);
	} else {
		wait_threads_print(&w->threads, &w->session.processes, now);
		nccl_waits_set(&w->nccl, &w->inflight);
		inflight_view(&w->inflight);
	}
	aggregate_clear(&w->aggregates);
	process_tidy(&w->session.processes);
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct aggregate_record *record = data;
	struct waits *w = ctx;

	if (w->nccl.session && nccl_waits_record(&w->nccl, data, size))
		return 0;
	if (aggregate_record(&w->aggregates, record, size) && w->off_cpu)
		aggregate_add_value(aggregate_of(&w->aggregates, record, WAIT_OFF_CPU), record->ns, record->more,
				    record->ns);
	return 0;
}

static void choose_fields(struct waits *w)
{
	columns_of_groups(w->fields, all_fields, w->pids, w->stacks);
	if (!w->streams)
		columns_remove(w->fields, "stream");
	for (size_t i = 0; !w->off_cpu && i < sizeof(off_keys) / sizeof(*off_keys); i++)
		columns_remove(w->fields, off_keys[i]);
}

static void check(void *ctx)
{
	struct waits *w = ctx;

	if (w->folded && w->off_cpu)
		usage_error("--folded and --off-cpu are mutually exclusive");
	w->pids |= w->folded || w->profile.path || w->session.json || w->streams;
	w->devices.several = w->session.devices;
	w->classes = 1 << CUDA_SYNC | (w->implicit ? CUDA_WAITS : 0) | (w->launches ? 1 << CUDA_LAUNCH : 0);
	if (w->folded)		/* calls in flight are not printed */
		return;
	w->classes |= NCCL_WAIT_CLASSES;
	w->session.probes.late_classes = NCCL_WAIT_LATE_CLASSES;
	w->session.probes.return_classes = NCCL_RETURN_CLASSES;
}

static void *open_skel(void *ctx)
{
	struct waits *w = ctx;

	choose_fields(w);
	w->delays = !w->session.inject && !access("/proc/self/schedstat", F_OK);	/* CONFIG_SCHED_INFO */
	w->skel = cudasynclatency_bpf__open();
	if (!w->skel)
		return NULL;
	w->skel->rodata->aggregate_stacks = w->stacks;
	w->skel->rodata->aggregate_pids = w->pids;
	w->skel->rodata->aggregate_streams = w->streams;
	w->skel->rodata->wait_slower = w->slower;
	w->skel->rodata->wait_off_cpu = w->off_cpu;
	w->skel->rodata->wait_nccl = !w->folded;
	bpf_program__set_autoload(w->skel->progs.wait_switch, w->off_cpu);
	w->aggregates.other_records = !w->folded;
	aggregate_prepare(&w->aggregates, w->skel->obj, w->session.syms, &w->session.processes);
	w->session.processes.keeps_ended = true;
	return w->skel;
}

static void loaded(void *ctx)
{
	struct waits *w = ctx;

	if (w->folded)
		return;
	w->nccl = (struct nccl_waits)NCCL_WAITS_OF(w->skel, &w->session);
	nccl_waits_begin(&w->nccl);
}

static void start(void *ctx)
{
	struct waits *w = ctx;

	wait_threads_init(&w->threads, w->skel->maps.wait_slot, w->skel->maps.waiting,
			  w->skel->bss->waiting_used, w->skel->bss->waiting_shares);
	w->inflight = (struct inflight)INFLIGHT_OF(w->skel, &w->session, w->stacks);
	w->inflight.devices = &w->devices;
	inflight_start(&w->inflight);
}

static int finish(void *ctx, int status)
{
	struct waits *w = ctx;

	inflight_free(&w->inflight);
	nccl_waits_free(&w->nccl);
	aggregate_free(&w->aggregates);
	return status;
}

int main(int argc, char **argv)
{
	struct waits waits = {
		.session = SESSION_INIT, .profile = PROFILE_INIT(&waited, &waits.session.processes),
		.events = { .record = on_record, .report = report, .ctx = &waits },
	};
	const struct opt opts[] = {
		OPT_TARGET(&waits.session),
		OPT_DEVICE(&waits.session),
		OPT_FLAG('P', "per-process", &waits.pids, "one group per process"),
		OPT_FLAG(0, "per-stream", &waits.streams, "one group per stream of a process"),
		OPT_FLAG('k', "stacks", &waits.stacks, "one group per call stack, longest total wait first"),
		OPT_STACKS(&waits.session),
		OPT_FLAG(0, "folded", &waits.folded, "print one line per stack, for flame graphs: nanoseconds"),
		OPT_PPROF(&waits.profile),
		OPT_FLAG('i', "implicit", &waits.implicit, "include functions that synchronize implicitly: copies, cudaFree, ..."),
		OPT_FLAG('L', "launches", &waits.launches, "include kernel launches, which wait if the queue is full"),
		OPT_TIME(0, "slower", "US", &waits.slower, VALUE_US, 0, "count only calls that took at least US microseconds"),
		OPT_FLAG('O', "off-cpu", &waits.off_cpu, "show how long the thread was off the CPU"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .interval = true, .session = &waits.session,
		.events = &waits.events, .stacks = &waits.stacks, .folded = &waits.folded, .profile = &waits.profile,
		.classes = &waits.classes, .devices = true, .tracepoints = "scheduler, process exit and exec",
		.ctx = &waits, .check = check, .open = open_skel, .loaded = loaded, .start = start, .close = finish,
	};

	return tool_run(&tool, argc, argv);
}
