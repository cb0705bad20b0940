// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudalaunchtop - show which CUDA kernels are launched how often, by name */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "abi/launch.h"
#include "api/cuda_fn.h"
#include "base/clock.h"
#include "base/die.h"
#include "bpf/bpf_mmap.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cli/top_screen.h"
#include "cudalaunchtop/gap_view.h"
#include "cudalaunchtop/gaps.h"
#include "cudalaunchtop/launch_probes.h"
#include "cudalaunchtop/launch_view.h"
#include "gputime/gpu_calls.h"
#include "pprof/profile.h"
#include "session/live.h"
#include "session/tool.h"
#include "sym/stack.h"
#include "sym/syms.h"
#include "view/stack_view.h"
#include "view/columns.h"
#include "view/kernel_names.h"
#include "cudalaunchtop.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show how often CUDA kernels are launched, by name: on a terminal live in place, every\n"
		"interval (1 second); otherwise in blocks, every interval (none) and at the end.",
	.examples =
	"  cudalaunchtop                       # every process, live\n"
	"  cudalaunchtop -p 181 -b 2 5         # one process, 5 blocks, every 2 seconds\n"
	"  cudalaunchtop -bc './train 10'      # launches of the command\n"
	"  cudalaunchtop --device 0,1 -bc ./train # launches on two devices\n"
	"  cudalaunchtop --per-stream -p 181 -b 5 # launches by stream\n"
	"  cudalaunchtop -k -r 3 -p 181 -d 1   # the 3 call sites with the most launches\n"
	"  cudalaunchtop -xj -p 181 1          # failed launches too, as JSON\n"
	"  cudalaunchtop --graphs -p 181 -d 10 # CUDA graphs: what they run, how often\n"
	"  cudalaunchtop --gpu-time -c ./train # how long kernels run on the GPU\n"
	"  cudalaunchtop --gaps -c ./train     # what threads did while the GPU waited\n"
	"  cudalaunchtop --folded -p 181 -d 10 >launches # flamegraph.pl input\n"
	"  cudalaunchtop --pprof launches.pb.gz -c ./train # for go tool pprof\n",
};

static const struct profile_kind launched = { .values = { { "launches", "count" } }, .leaf = "kernel" };
static const struct profile_kind timed = { .values = { { "launches", "count" }, { "gpu", "nanoseconds" } }, .leaf = "kernel" };

/* Bytes of counters if one process, or a command, is traced; rows of text without -r. */
enum { COUNTERS_ALONE = 128 << 20, TEXT_ROWS = 20 };

/* With --graphs: what else may be captured, or take memory meanwhile. */
enum { CAPTURED_CLASSES = 1 << CUDA_COPY | 1 << CUDA_SET | 1 << CUDA_ALLOC | 1 << CUDA_FREE };

struct top {
	struct launch_view view;
	struct launch_probes probes;
	bool batch, live;
	bool folded;		/* all lines, each with its stack, for flame graphs */
	struct profile profile;
	bool reported;		/* a block of text was already printed */
	bool gpu_time, nodes;	/* nodes: of each kernel of a graph */
	const char *sample;		/* of GPU time: "RUN/PERIOD" */
	struct gpu_time gpu;
	bool by_gap;
	struct gaps gaps;
	struct gap_view gap_view;
	char *who;
	unsigned classes;
	struct session session;
	struct event_loop events;
	struct cudalaunchtop_bpf *skel;
};

OUT_WORD(row_type, "launches");

#define LAUNCH_FIELDS \
	{ "time", NULL, 0, OUT_TIME, AT(time) }, \
	{ "interval_s", NULL, 0, OUT_REAL, AT(interval) },	/* s: length of the interval */ \
	{ "pid", NULL, 0, OUT_INT, AT(row.pid) }, \
	{ "comm", NULL, 0, OUT_STR, AT(row.comm) },	/* name of its main thread */ \
	{ "container", NULL, 0, OUT_STR, AT(container_or_null) }, \
	{ "device", NULL, 0, OUT_DEVICE, AT(row.device) }

#define AT(f) offsetof(struct launch_line, f)
enum { STREAM = 7, GRID = 16, FAILED = 21, STACK, GPU, GPU_LAST = GPU + 4, FIELDS_END };
static const struct field all_fields[] = {	/* for JSON; launch_view_line() prints text */
	{ "type", NULL, 0, &row_type, 0 },	/* launches of a kernel or graph */
	LAUNCH_FIELDS,
	[STREAM] = { "stream", NULL, 0, OUT_STREAM, AT(row.stream) },	/* with --per-stream: of the launches */
	{ "kernel", NULL, 0, OUT_STR, AT(kernel) },	/* name, address, or handle of a graph; null with --per-process */
	{ "short", NULL, 0, OUT_STR, AT(short_name) },	/* short name of the kernel, for reading */
	{ "kind", NULL, 0, OUT_STR, AT(kind) },	/* kernel, cooperative or graph; null with --per-process */
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },
	{ "launches", NULL, 0, OUT_UINT, AT(row.last.launches) },	/* in the interval, including failed ones */
	{ "replayed", NULL, 0, OUT_UINT, AT(row.last.replayed) },	/* of launches: by launches of graphs that have the kernel */
	{ "launches_per_s", NULL, 0, OUT_REAL, AT(rate) },	/* in the interval */
	{ "total", NULL, 0, OUT_UINT, AT(row.total.launches) },	/* launches since tracing began */
	[GRID] = { "grid", NULL, 0, OUT_DIM, AT(row.grid) },	/* of the last launch; null if unknown */
	{ "block", NULL, 0, OUT_DIM, AT(row.block) },	/* of the last launch */
	{ "threads", NULL, 0, OUT_UINT, AT(threads) },	/* grid times block */
	{ "threads_beyond", NULL, 0, OUT_BOOL, AT(threads_beyond) },	/* whether those are more than 64 bits hold: threads is the most */
	{ "impossible", NULL, 0, OUT_UINT, AT(row.last.impossible) },	/* with a grid or block that no GPU can launch */
	[FAILED] = { "failed", NULL, 0, OUT_UINT, AT(row.last.failed) },	/* with --failed: that returned an error */
	[STACK] = { "stack", NULL, 0, OUT_STACK, AT(row.stack) },
	[GPU] = { "gpu_runs", NULL, 0, OUT_UINT, AT(gpu_n) },	/* with --gpu-time: runs on the GPU that ended in the interval; null if not measured, or in another row of the kernel */
	{ "gpu_ns", NULL, 0, OUT_UINT, AT(gpu_ns) },	/* with --gpu-time: how long they took */
	{ "gpu_share", NULL, 0, OUT_REAL, AT(gpu_share) },	/* with --gpu-time: of the interval; more than 1 if kernels ran beside each other */
	{ "gpu_mean_ns", NULL, 0, OUT_UINT, AT(gpu_mean) },	/* with --gpu-time: of a run; null if there was none */
	{ "gpu_p99_ns", NULL, 0, OUT_UINT, AT(gpu_spread.p99) },	/* with --gpu-time: 99th percentile of the runs */
	[FIELDS_END] = { 0 }
};

OUT_WORD(graph_type, "graph");

static const struct field graph_fields[] = {	/* for JSON, with --graphs */
	{ "type", NULL, 0, &graph_type, 0 },	/* launches of a CUDA graph, with --graphs */
	LAUNCH_FIELDS,
	[STREAM] = { "stream", NULL, 0, OUT_STREAM, AT(row.stream) },	/* with --per-stream: of the launches */
	{ "graph", NULL, 0, OUT_STR, AT(kernel) },	/* handle of the executable graph */
	{ NULL, NULL, 0, OUT_BOOL, 0 },		/* a graph has no short name */
	{ "known", NULL, 0, OUT_BOOL, AT(known) },	/* whether it was made while tracing: otherwise its nodes are unknown */
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },
	{ "launches", NULL, 0, OUT_UINT, AT(row.last.launches) },	/* in the interval */
	{ "launches_per_s", NULL, 0, OUT_REAL, AT(rate) },	/* in the interval */
	{ "total", NULL, 0, OUT_UINT, AT(row.total.launches) },	/* launches since tracing began */
	{ "kernels", NULL, 0, OUT_UINT, AT(items.kernels) },	/* that one launch runs */
	{ "node_count", NULL, 0, OUT_UINT, AT(items.nodes) },	/* nodes of the graph, including those of child graphs */
	{ "nodes", NULL, 0, OUT_PRINT, AT(nodes) },	/* array of node: nodes that do the same: kernels first, then by count */
	{ "memory", NULL, 0, OUT_UINT, AT(items.memory) },	/* bytes: that its nodes allocate */
	{ "capture_memory", NULL, 0, OUT_UINT, AT(items.taken) },	/* bytes: that the capturing thread allocated meanwhile */
	{ NULL, NULL, 0, OUT_BOOL, 0 },		/* nor a key for threads beyond */
	[FAILED] = { "failed", NULL, 0, OUT_UINT, AT(row.last.failed) },	/* with --failed: launches that returned an error */
	[STACK] = { "stack", NULL, 0, OUT_STACK, AT(row.stack) },	/* of the call that ended its capture, or else that instantiated it */
	[FIELDS_END] = { 0 }	/* as many as all_fields has */
};

/* Returns the columns of the terminal, which would wrap longer lines; INT_MAX if the output is not
 * a terminal. */
static int columns_of_output(void)
{
	struct winsize w = { 0 };

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) || !w.ws_col)
		return INT_MAX;
	return w.ws_col;
}

static void report_json(struct top *t, size_t n)
{
	struct launch_view *v = &t->view;
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];

	_Static_assert(sizeof(graph_fields) == sizeof(all_fields), "STREAM, FAILED and STACK are the same in both");
	memcpy(fields, v->by_graph ? graph_fields : all_fields, sizeof(fields));
	fields[STREAM].key = v->streams ? "stream" : NULL;
	fields[FAILED].key = v->failed ? "failed" : NULL;
	fields[STACK].key = v->stacks ? "stack" : NULL;
	for (int i = GPU; i <= GPU_LAST && !v->by_graph; i++)
		fields[i].key = v->gpu ? fields[i].key : NULL;
	for (size_t i = 0; i < n; i++) {
		struct launch_line *l = &v->lines[i];

		l->complete = process_is_complete(&t->session.processes, l->row.pid);
		l->container_or_null = *l->container ? l->container : NULL;
		l->known = !l->row.unknown;
		l->nodes = (struct out_print){ graph_items_json, &l->items };
		launch_view_items(v, i);
		out_row(fields, l);
		launch_view_items_free(v, i);
	}
}

static void print_line(const struct launch_view *v, size_t i, int columns)
{
	int used;
	size_t size;
	char *buf;
	FILE *f = top_view_line(&buf, &size);

	launch_view_line(v, f, i);
	fclose(f);
	printf("%.*s\n", screen_fit(buf, columns, &used), buf);
	free(buf);
}

static void report_text(struct top *t, size_t n)
{
	struct launch_view *v = &t->view;
	const int columns = columns_of_output();

	launch_view_columns(v, n, columns);
	if (t->reported)
		putchar('\n');
	t->reported = true;
	launch_view_head(v, stdout);
	putchar('\n');
	for (size_t i = 0; i < n; i++) {
		launch_view_items(v, i);
		print_line(v, i, columns);
		graph_items_text(&v->lines[i].items);
		launch_view_items_free(v, i);
		if (v->stacks)
			stack_text(v->lines[i].row.stack);
	}
	if (v->n > n)
		printf("... and %zu more\n", v->n - n);
}

static void report_folded(const struct launch_view *v)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct launch_row *r = &v->lines[i].row;
		const unsigned long long value = v->gpu ? v->lines[i].gpu.ns : r->last.launches;
		char *leaf = launch_line_leaf(&v->lines[i]);

		if (value)
			folded_line(r->comm, r->stack, leaf, value);
		free(leaf);
	}
}

static void report_gaps(struct top *t)
{
	struct gap_view *v = &t->gap_view;

	v->now = clock_ns();
	gap_view(v);
	v->since = v->now;
	gaps_clear(&t->gaps);
}

/* Reports the launches in the interval or, if whole, since the start. */
static void report_block(struct top *t, bool whole)
{
	struct launch_view *v = &t->view;
	size_t n;

	if (t->by_gap) {
		report_gaps(t);
		return;
	}
	launch_view_count(v, whole);
	n = v->rows ? (size_t)v->rows : out_is_json() ? v->n : TEXT_ROWS;
	n = n < v->n ? n : v->n;
	if (t->folded)
		report_folded(v);
	else if (out_is_json())
		report_json(t, n);
	else
		report_text(t, n);
	launch_view_clear(v);
}

static void report(void *ctx)
{
	struct top *t = ctx;

	if (screen_is_open())
		launch_screen_update(&t->view);
	else
		report_block(t, false);
	process_tidy(&t->session.processes);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct top *t = ctx;

	if (!t->by_gap || !host_threads_record(&t->gaps.threads, data, size))
		launches_record(t->view.launches, data, size);
	return 0;
}

static bool tick(void *ctx)
{
	struct top *t = ctx;

	launch_probes_tick(&t->probes);
	if (t->gpu_time)
		gpu_time_tick(&t->gpu);
	if (t->by_gap)
		gaps_tick(&t->gaps, false);
	launches_tick(t->view.launches);
	return live_tick(&t->view.screen);
}

static void check_gpu_time(struct top *t)
{
	struct launch_view *v = &t->view;

	if (!t->gpu_time && v->sort == SORT_TIME)
		usage_error("--sort time requires --gpu-time");
	if (!t->gpu_time && (t->nodes || t->sample))
		usage_error("%s requires --gpu-time", t->nodes ? "--graph-nodes" : "--sample");
	if (!t->gpu_time)
		return;
	if (v->by_graph || v->streams)
		usage_error("--gpu-time cannot be combined with --graphs or --per-stream");
	t->profile.kind = &timed;
	t->gpu.callers = t->gpu.sites = v->stacks;
	t->gpu.want = GPUTIME_KERNELS | (t->nodes ? GPUTIME_NODES : 0) | (v->stacks ? GPUTIME_LAUNCHES : 0);
	if (t->sample)
		gpu_time_sample(&t->gpu, t->sample);
	if (t->by_gap)
		t->gpu.want |= GPUTIME_COPIES | GPUTIME_COPY_CALLS;
	v->gpu = &t->gpu;
	v->only = t->session.devices;
	if (v->sort < 0)
		v->sort = SORT_TIME;
}

static void check_names(struct top *t)
{
	struct launch_view *v = &t->view;

	if (v->full && v->names >= 0)
		usage_error("--full and --kernel-names are mutually exclusive");
	v->full |= v->names == KERNEL_FULL;
	if (v->full || v->names < 0)
		v->names = t->folded ? KERNEL_BRIEF : KERNEL_SHORT;
}

static void check_gaps(struct top *t)
{
	struct launch_view *v = &t->view;

	if (!t->by_gap)
		return;
	if (v->by_graph || v->by_process || v->streams || v->failed)
		usage_error("--gaps cannot be combined with --graphs, --per-process, --per-stream or --failed");
	if (t->sample || v->full || v->names >= 0 || v->sort >= 0 || t->profile.path)
		usage_error("--gaps cannot be combined with --sample, --full, --kernel-names, --sort or --pprof");
	t->gpu_time = v->stacks = t->batch = true;
}

static void check(void *ctx)
{
	struct top *t = ctx;
	struct launch_view *v = &t->view;

	check_gaps(t);
	check_names(t);
	check_gpu_time(t);
	if (v->sort < 0)
		v->sort = SORT_LAUNCHES;
	if (v->by_graph && (v->by_process || t->folded || t->profile.path))
		usage_error("--graphs cannot be combined with --per-process, --folded or --pprof");
	if (v->by_process && t->profile.path)
		usage_error("--per-process and --pprof are mutually exclusive");
	if (v->by_process && v->stacks)
		usage_error("--per-process and --stacks are mutually exclusive");
	t->view.stacks |= v->by_graph;
	t->view.profile = &t->profile;
	t->classes = 1 << CUDA_LAUNCH | 1 << CUDA_NAME | CUDA_GRAPH_CLASSES | (v->by_graph ? CAPTURED_CLASSES : 0) |
		     (t->by_gap ? 1 << CUDA_COPY | 1 << CUDA_SET : 0);
	t->view.devices.several = t->session.devices;
	t->session.probes.return_classes = 1 << CUDA_NAME | 1 << CUDA_GRAPH | CUDA_DEVICE_CLASSES | (v->failed ? 1 << CUDA_LAUNCH : 0) |
					  (v->by_graph ? CAPTURED_CLASSES : 0);
	if (t->session.layer == SESSION_LAYER_ALL && !v->failed && (!v->stacks || v->by_graph))
		t->session.probes.detachable_classes = 1 << CUDA_LAUNCH;
}

/* The programs that see what threads do are loaded only where they can run. */
static void open_gaps(struct top *t)
{
	const bool hosts = t->by_gap && host_threads_can(t->session.inject);

	t->skel->rodata->launch_hosts = t->by_gap;
	t->gaps.threads.switches = hosts;
	bpf_program__set_autoload(t->skel->progs.host_switch, hosts);
	bpf_program__set_autoload(t->skel->progs.host_sample, hosts);
}

static void *open_skel(void *ctx)
{
	struct top *t = ctx;

	session_need_syms(&t->session);
	t->skel = cudalaunchtop_bpf__open();
	if (!t->skel)
		return NULL;
	t->skel->rodata->launch_failures = t->view.failed;
	t->skel->rodata->launch_stacks = t->view.stacks && !t->view.by_graph;
	t->skel->rodata->launch_graphs = t->view.by_graph;
	t->skel->rodata->launch_streams = t->view.streams;
	t->skel->rodata->launch_each = t->gpu.sites;
	t->skel->rodata->launch_pairs = t->session.layer == SESSION_LAYER_ALL;
	open_gaps(t);
	bpf_mmap_per_cpu(t->skel->maps.quick, LAUNCH_SLOTS);
	return t->skel;
}

static void on_launch(void *ctx, const struct launch_made *e, const struct stack *stack)
{
	struct top *t = ctx;

	gpu_time_launched(&t->gpu, e->key.pid, &(struct gpu_launch){ .tid = e->tid, .own_tid = e->own_tid, .time = e->time, .site = stack });
}

/* A copy or memset. */
static void on_host_call(void *ctx, int pid, const struct gpu_launch *call)
{
	struct top *t = ctx;

	gpu_time_launched(&t->gpu, pid, call);
}

/* Call after gpu_time_open(), which first hands over what an ended process ran. */
static void loaded_gaps(struct top *t)
{
	t->gpu.on_run = gaps_run;
	t->gpu.ctx = &t->gaps;
	t->gaps.only = t->session.devices;
	t->gaps.threads.on_call = on_host_call;
	t->gaps.threads.ctx = t;
	t->gap_view = (struct gap_view){
		.gaps = &t->gaps, .processes = &t->session.processes, .folded = t->folded, .rows = t->view.rows, .since = clock_ns(),
	};
	gaps_open(&t->gaps, &t->session.processes);
	host_threads_open(&t->gaps.threads, t->session.syms, &t->session.processes, t->skel->progs.host_sample);
	process_on_end(&t->session.processes, gaps_ended, &t->gaps);
}

static void loaded(void *ctx)
{
	struct top *t = ctx;

	t->view.launches = launches_new(t->session.syms, t->skel->maps.counts, t->skel->maps.quick,
					&t->skel->bss->counts_shares, t->session.pid_list || t->session.command);
	t->view.launches->on_launch = t->gpu.sites ? on_launch : NULL;	/* a program can write records that no probe sends */
	t->view.launches->ctx = t;
	t->view.launches->counters.by_graph = t->view.by_graph;
	if (session_is_alone(&t->session)) {
		t->view.launches->counters.quota.limit = COUNTERS_ALONE;
		t->view.launches->counters.quota.whole = true;
		t->view.launches->graphs.whole = true;
	}
	t->view.launches->captures = (struct captures)CAPTURES_OF(t->skel);
	process_on_end(&t->session.processes, launches_ended, t->view.launches);
	t->session.processes.keeps_ended = t->session.reads_at_exec = true;
	if (t->gpu_time) {
		gpu_time_open(&t->gpu, &t->session.processes);
		t->gpu.keep = t->session.pid_list || t->session.command;
		process_on_end(&t->session.processes, gpu_time_ended, &t->gpu);
		if (t->by_gap)
			loaded_gaps(t);
		if (t->session.command)
			gpu_time_begin(&t->gpu);
	}
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
	t->view.processes = &t->session.processes;
	t->view.began = t->view.counted = clock_ns();
	launch_screen_init(&t->view);
	t->view.screen.who = t->who = session_who(&t->session);
	t->live = !t->folded && live_start(&t->session, &t->events, t->batch);
}

static int stop(void *ctx, int sig)
{
	struct top *t = ctx;

	screen_close();
	if (t->gpu_time)
		gpu_time_stop(&t->gpu);
	if (t->by_gap)
		gaps_tick(&t->gaps, true);
	if (t->live || !t->events.counted_out)
		report_block(t, t->live || !t->events.interval_ns);
	if (launches_impossible(t->view.launches) && !t->view.failed)
		warning(0, "%llu launches had a grid or block that no GPU can launch: they failed (-x counts all failures)",
			launches_impossible(t->view.launches));
	return sig;
}

static int finish(void *ctx, int status)
{
	struct top *t = ctx;

	if (t->gpu_time)
		gpu_time_close(&t->gpu);
	if (t->by_gap)
		gaps_close(&t->gaps);
	if (t->view.launches->lost_nodes)
		warning(0, "%llu nodes of graphs not followed: " GRAPHS_LOST, t->view.launches->lost_nodes);
	launches_free(t->view.launches);
	free(t->who);
	return status;
}

int main(int argc, char **argv)
{
	struct top top = {
		.session = SESSION_INIT, .view.sort = -1, .view.names = -1,
		.profile = PROFILE_INIT(&launched, &top.session.processes),
		.events = { .record = on_record, .report = report, .tick = tick, .ctx = &top },
	};
	const struct opt opts[] = {
		OPT_TARGET(&top.session),
		OPT_DEVICE(&top.session),
		OPT_FLAG('b', "batch", &top.batch, "print blocks of text even on a terminal"),
		OPT_FLAG('P', "per-process", &top.view.by_process, "show processes instead of kernels"),
		OPT_FLAG(0, "graphs", &top.view.by_graph, "show CUDA graphs: what they run, how often, where they were made"),
		OPT_FLAG(0, "per-stream", &top.view.streams, "show each stream separately"),
		OPT_FLAG('k', "stacks", &top.view.stacks, "show each call site separately, with call stacks"),
		OPT_STACKS(&top.session),
		OPT_FLAG(0, "folded", &top.folded, "print one line per stack, for flame graphs: launches"),
		OPT_PPROF(&top.profile),
		OPT_FLAG('f', "full", &top.view.full, "print kernel names with parameters"),
		OPT_KERNEL_NAMES(&top.view.names, "how text calls kernels; default: short, with --folded: brief"),
		OPT_FLAG('x', "failed", &top.view.failed, "also count failed launches; requires return probes"),
		OPT_FLAG(0, "gpu-time", &top.gpu_time, "show the time of kernels on the GPU, by CUPTI"),
		OPT_FLAG(0, "gaps", &top.by_gap, "show when the GPU waited for the host, and what threads did then"),
		OPT_FLAG(0, "graph-nodes", &top.nodes, "with --gpu-time: of each kernel of a graph, not the whole"),
		OPT_STR(0, "sample", "RUN/PERIOD", &top.sample, "measure GPU time for RUN of each PERIOD: 100ms/1s"),
		OPT_NUM('r', "rows", "ROWS", &top.view.rows, 1, "print at most ROWS rows; default: 20, all in JSON and live"),
		OPT_CHOICE('s', "sort", LAUNCH_SORT_WORDS, &top.view.sort, "sort order; default: launches, with --gpu-time: time"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .interval = true, .session = &top.session,
		.events = &top.events, .stacks = &top.view.stacks, .folded = &top.folded, .profile = &top.profile,
		.classes = &top.classes, .devices = true, .ctx = &top, .check = check,
		.open = open_skel, .loaded = loaded, .start = start, .stop = stop, .close = finish,
	};

	return tool_run(&tool, argc, argv);
}
