// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudasynclatency - show how long threads wait for the GPU, as histograms */
#include <stdio.h>
#include <unistd.h>
#include "abi/launch.h"
#include "abi/nccl_event.h"
#include "api/cuda_fn.h"
#include "cli/row.h"
#include "cudasynclatency/nccl_waits.h"
#include "cudasynclatency/wait_threads.h"
#include "session/groups.h"
#include "session/tool.h"
#include "sym/stack.h"
#include "view/call_view.h"
#include "view/columns.h"
#include "view/stack_view.h"
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
	struct call_stats calls;	/* second: the time off the CPU */
	unsigned int device;		/* as in abi/device.h */
	unsigned long long stream;	/* as in abi/stream.h; 0: not grouped by stream */
	unsigned long long runnable;	/* ns of calls.second; OUT_NONE: not known */
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
	CALL_TIME_FIELDS(calls.),
	{ "off_cpu_ns", NULL, 0, OUT_UINT, AT(calls.second) },	/* with --off-cpu: ns: part of total_ns off the CPU */
	{ "runnable_ns", NULL, 0, OUT_UINT, AT(runnable) },	/* with --off-cpu: ns: part of off_cpu_ns in which the thread waited for a CPU, preempted or just woken; null if unknown */
	{ "min_off_cpu_ns", NULL, 0, OUT_UINT, AT(calls.second_spread.min) },	/* with --off-cpu: ns: shortest of a call */
	{ "max_off_cpu_ns", NULL, 0, OUT_UINT, AT(calls.second_spread.max) },	/* with --off-cpu: ns: longest of a call */
	{ "p50_off_cpu_ns", NULL, 0, OUT_UINT, AT(calls.second_spread.p50) },	/* with --off-cpu: ns: median */
	{ "p95_off_cpu_ns", NULL, 0, OUT_UINT, AT(calls.second_spread.p95) },	/* with --off-cpu: ns: 95th percentile */
	{ "p99_off_cpu_ns", NULL, 0, OUT_UINT, AT(calls.second_spread.p99) },	/* with --off-cpu: ns: 99th percentile */
	{ "hist_off_cpu", NULL, 0, OUT_HIST, AT(calls.second_hist) },	/* with --off-cpu: ns: calls by it */
	{ "stack", NULL, 0, OUT_STACK, AT(calls.stack) },
	{ 0 }
};

static const char *const off_keys[] = {
	"off_cpu_ns", "runnable_ns", "min_off_cpu_ns", "max_off_cpu_ns", "p50_off_cpu_ns", "p95_off_cpu_ns", "p99_off_cpu_ns",
	"hist_off_cpu",
};

struct waits {
	struct groups groups;		/* with --off-cpu, their calls have a second value: the time off the CPU */
	bool streams;		/* waits are also grouped by these */
	bool implicit, launches;
	bool delays;		/* how long threads wait for a CPU is known */
	long slower;		/* ns */
	unsigned classes;
	struct devices_seen devices;	/* several: shown in text */
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];	/* for JSON */
	struct wait_threads threads;
	struct nccl_waits nccl;
	struct session session;
	struct event_loop events;
	struct cudasynclatency_bpf *skel;
};

/* Returns the row of a group. */
static struct wait_row wait_row(const struct waits *w, const struct aggregate *g)
{
	const struct aggregate *off = aggregate_series(&w->groups.aggregates, g, AGGREGATE_SECOND);

	return (struct wait_row){
		.calls = groups_stats(&w->groups, g, true), .device = device_of_key(g->key.device), .stream = g->key.stream,
		.runnable = !w->delays ? OUT_NONE : off ? off->ns : 0,
	};
}

static void off_cpu(const struct wait_row *r)
{
	const struct call_stats *s = &r->calls;

	printf("off the CPU for %s, %.1f %% of it", out_ns(s->second), s->total ? 100.0 * s->second / s->total : 0);
	if (r->runnable != OUT_NONE)
		printf(": %s asleep, %s preempted", out_ns(s->second - r->runnable), out_ns(r->runnable));
	putchar('\n');
	call_stats_text_of_second(s, OUT_UNIT_NS);
}

static void print_text(const struct waits *w, const struct wait_row *r)
{
	char number[16], text[32];

	if (w->devices.several)
		printf("device %s, ", device_text(r->device, number));
	if (r->stream)
		printf("%s, ", stream_text(r->stream, text));
	call_stats_text(&r->calls);
	if (w->groups.aggregates.second)
		off_cpu(r);
	if (w->groups.stacks)
		stack_text(r->calls.stack);
	putchar('\n');
}

static void print(struct waits *w, const struct aggregate *g)
{
	struct wait_row row = wait_row(w, g);

	if (groups_folded(&w->groups, &row.calls, g->key.device))
		return;
	if (out_is_json())
		out_row(w->fields, &row);
	else
		print_text(w, &row);
}

/* Prints the waits since the last report. */
static void report(void *ctx)
{
	struct waits *w = ctx;
	struct groups *g = &w->groups;
	unsigned int epoch = groups_begin(g, true, "");

	wait_threads_collect(&w->threads, epoch);
	for (size_t i = 0; i < g->n; i++)
		devices_see(&w->devices, g->all[i]->key.device);
	for (size_t i = 0; i < g->n; i++)
		print(w, g->all[i]);
	if (!g->n && !out_is_json() && !g->folded)
		puts(g->inflight.n ? "no waits have ended" : "no waits");
	if (g->folded) {
		wait_threads_clear(&w->threads);
	} else {
		wait_threads_print(&w->threads, &w->session.processes, g->now);
		nccl_waits_set(&w->nccl, &g->inflight);
	}
	groups_end(g);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct waits *w = ctx;

	if (w->nccl.session && nccl_waits_record(&w->nccl, data, size))
		return 0;
	return groups_record(&w->groups, data, size);
}

static void choose_fields(struct waits *w)
{
	columns_of_groups(w->fields, all_fields, w->groups.pids, w->groups.stacks);
	if (!w->streams)
		columns_remove(w->fields, "stream");
	for (size_t i = 0; !w->groups.aggregates.second && i < sizeof(off_keys) / sizeof(*off_keys); i++)
		columns_remove(w->fields, off_keys[i]);
}

static void check(void *ctx)
{
	struct waits *w = ctx;

	groups_check(&w->groups);
	w->groups.pids |= w->streams;
	w->devices.several = w->session.devices;
	w->classes = 1 << CUDA_SYNC | (w->implicit ? CUDA_WAITS : 0) | (w->launches ? 1 << CUDA_LAUNCH : 0);
	if (w->groups.folded)		/* calls in flight are not printed */
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
	w->skel->rodata->aggregate_streams = w->streams;
	w->skel->rodata->wait_slower = w->slower;
	w->skel->rodata->wait_off_cpu = w->groups.aggregates.second;
	w->skel->rodata->wait_nccl = !w->groups.folded;
	bpf_program__set_autoload(w->skel->progs.wait_switch, w->groups.aggregates.second);
	w->groups.aggregates.other_records = !w->groups.folded;
	GROUPS_OPEN(&w->groups, w->skel);
	return w->skel;
}

static void loaded(void *ctx)
{
	struct waits *w = ctx;

	if (w->groups.folded)
		return;
	w->nccl = (struct nccl_waits)NCCL_WAITS_OF(w->skel, &w->session);
	nccl_waits_begin(&w->nccl);
}

static void start(void *ctx)
{
	struct waits *w = ctx;

	wait_threads_init(&w->threads, w->skel->maps.wait_slot, w->skel->maps.waiting,
			  w->skel->bss->waiting_used, w->skel->bss->waiting_shares);
	GROUPS_START(&w->groups, w->skel);
	w->groups.inflight.devices = &w->devices;
}

static int finish(void *ctx, int status)
{
	struct waits *w = ctx;

	nccl_waits_free(&w->nccl);
	return groups_close(&w->groups, status);
}

int main(int argc, char **argv)
{
	struct waits waits = {
		.groups = GROUPS_INIT(&waits.session, &waited, "waits"), .groups.second = "off-cpu", .session = SESSION_INIT,
		.events = { .record = on_record, .report = report, .ctx = &waits },
	};
	const struct opt opts[] = {
		OPT_TARGET(&waits.session),
		OPT_DEVICE(&waits.session),
		OPT_FLAG('P', "per-process", &waits.groups.pids, "one group per process"),
		OPT_FLAG(0, "per-stream", &waits.streams, "one group per stream of a process"),
		OPT_GROUPS(&waits.groups, &waits.session, ", longest total wait first", "nanoseconds"),
		OPT_FLAG('i', "implicit", &waits.implicit, "include functions that synchronize implicitly: copies, cudaFree, ..."),
		OPT_FLAG('L', "launches", &waits.launches, "include kernel launches, which wait if the queue is full"),
		OPT_TIME(0, "slower", "US", &waits.slower, VALUE_US, 0, "count only calls that took at least US microseconds"),
		OPT_FLAG('O', "off-cpu", &waits.groups.aggregates.second, "show how long the thread was off the CPU"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, TOOL_GROUPS(&waits.groups), .events = &waits.events,
		.classes = &waits.classes, .devices = true, .tracepoints = "scheduler, process exit and exec",
		.ctx = &waits, .check = check, .open = open_skel, .loaded = loaded, .start = start, .close = finish,
	};

	return tool_run(&tool, argc, argv);
}
