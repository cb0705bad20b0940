// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudatrace - print every call of CUDA and NCCL, decoded: strace for CUDA */
#include <errno.h>
#include <stdlib.h>
#include <bpf/libbpf.h>
#include "abi/launch.h"
#include "base/clock.h"
#include "base/die.h"
#include "bpf/map_backend.h"
#include "cli/out.h"
#include "cudatrace/trace_line.h"
#include "cudatrace/trace_execution.h"
#include "cudatrace/trace_records.h"
#include "cudatrace/trace_select.h"
#include "cudatrace/trace_suspects.h"
#include "model/aggregate.h"
#include "inflight/inflight.h"
#include "session/tool.h"
#include "kernels/executions.h"
#include "sym/syms.h"
#include "view/kernel_names.h"
#include "view/stack_view.h"
#include "inflight/inflight_view.h"
#include "cudatrace.skel.h"

static const struct usage usage = {
	.args = "",
	.what = "Print each call of CUDA and NCCL as it returns, with its arguments by name, what it stored, the\n"
		"name of the error and optionally the time, as strace does for system calls.",
	.examples =
	"  cudatrace -c './train 2'                     # all calls of a command\n"
	"  cudatrace -e 'memory,!cudaFree' -T -p 181    # some functions, with times\n"
	"  cudatrace -e nccl -c './ranks.py 2 2'        # NCCL's calls\n"
	"  cudatrace -e launch --device 0,1 -c ./train  # launches on two devices\n"
	"  cudatrace -x -k -p 181                       # failed calls with call stacks\n"
	"  cudatrace --unchecked -p 181                 # errors never checked\n"
	"  cudatrace -S -p 181 -d 2                     # a table by function\n"
	"  cudatrace --tree -c './train 1'              # driver calls in runtime calls\n"
	"  cudatrace --chrome train.json -c './train 2' # a timeline for Perfetto\n"
	"  cudatrace --folded -p 181 -d 10 >times       # flamegraph.pl --countname ns\n"
	"  cudatrace -S --pprof calls.pb.gz -c ./train  # for go tool pprof\n",
	.other = 'f',
	.hint = ": children of the command are always followed; those of -p are not",
};

static const struct profile_kind called = { .values = { { "time", "nanoseconds" }, { "calls", "count" } } };

struct tracer {
	struct trace trace;
	struct inflight inflight;
	struct session session;
	struct event_loop events;
	struct aggregates aggregates;
	unsigned long long collect_at;	/* ns: the next time */
	struct cudatrace_bpf *skel;
	int color;		/* enum color_when */
};

/* With --json calls are counted by process: their groups must not fill the probes' table, and the container of a process is read
 * while it lives. */
static const unsigned long long COLLECT_NS = 1000000000;

static void on_scanned(void *ctx, int pid)
{
	struct tracer *t = ctx;

	trace_execution_mapped(t->trace.programs, &t->session.probes, pid);
}

static void check(void *ctx)
{
	struct tracer *t = ctx;

	if (t->trace.gpu_time && !t->trace.chrome)
		usage_error("--gpu-time requires --chrome");
	if (t->trace.nodes && !t->trace.gpu_time)
		usage_error("--graph-nodes requires --gpu-time");
	t->trace.only = t->session.devices;
	trace_prepare(&t->trace);
	t->trace.probes = &t->session.probes;
	t->session.probes.tool = t;
	t->session.probes.on_scanned = on_scanned;
	if (!t->trace.output)
		return;
	out_to_file(t->trace.output);
	if (t->trace.chrome && out_is_file(t->trace.chrome))
		usage_error("--chrome %s: the output goes to the same file", t->trace.chrome);
	if (t->trace.profile.path && out_is_file(t->trace.profile.path))
		usage_error("--pprof %s: the output goes to the same file", t->trace.profile.path);
}

static void *open_skel(void *ctx)
{
	struct tracer *t = ctx;

	if (t->session.stacks || t->trace.launches) {
		session_need_syms(&t->session);
		t->trace.syms = t->session.syms;
	}
	process_on_end(&t->session.processes, trace_ended, &t->trace);
	t->trace.programs = trace_executions_new(t->session.syms);
	t->skel = cudatrace_bpf__open();
	if (!t->skel)
		return NULL;
	t->skel->rodata->trace_nested = t->trace.tree;
	t->skel->rodata->trace_failed_only = t->trace.failed && !t->trace.tree;
	t->skel->rodata->trace_slower = t->trace.tree ? 0 : t->trace.slower;
	t->skel->rodata->trace_entries = t->trace.lines.entries;
	t->skel->rodata->trace_no_returns = t->trace.no_returns;
	t->skel->rodata->trace_stacks = t->trace.lines.stacks;
	t->skel->rodata->trace_held = t->trace.allocations;
	t->skel->rodata->trace_devices = t->trace.devices;
	t->skel->rodata->trace_captures = t->trace.marks_captured;
	t->skel->rodata->trace_all_devices = t->trace.tree || t->trace.unchecked;
	t->skel->rodata->trace_aggregate = t->trace.aggregate;
	t->skel->rodata->aggregate_pids = t->session.json;
	if (t->trace.aggregate) {
		t->aggregates.other_records = true;
		aggregate_prepare(&t->aggregates, t->skel->obj, NULL, &t->session.processes);
		t->session.processes.keeps_ended = t->session.json;
	} else {
		bpf_map__set_max_entries(t->skel->maps.aggregates, 1);
		bpf_map__set_max_entries(t->skel->maps.aggregate_slots, 1);
	}
	if (bpf_map__set_max_entries(t->skel->maps.functions, t->trace.source.n) ||
	    bpf_map__set_max_entries(t->skel->maps.places, t->trace.source.n))
		die(errno, "cannot resize the function table");
	return t->skel;
}

static void open_gpu_time(struct tracer *t)
{
	struct gpu_time *time = &t->trace.gpu.time;

	time->want = GPUTIME_KERNELS | GPUTIME_COPIES | (t->trace.nodes ? GPUTIME_NODES : 0);
	t->trace.gpu.names = t->trace.names;
	trace_gpu_open(&t->trace.gpu, &t->session.processes, &t->trace.timeline.out);
	process_on_end(&t->session.processes, gpu_time_ended, time);
	if (t->session.command)
		gpu_time_begin(time);
}

static void loaded(void *ctx)
{
	struct tracer *t = ctx;
	const struct bpf_map *functions = t->skel->maps.functions, *places = t->skel->maps.places;

	for (int i = 0; i < t->trace.source.n; i++)
		if (bmap_update(functions, &i, &t->trace.functions[i], BPF_ANY) ||
		    (t->trace.functions[i].flags & TRACE_PLACED && bmap_update(places, &i, &t->trace.places[i], BPF_ANY)))
			die(errno, "cannot fill the function table");
	t->trace.captures = (struct captures)CAPTURES_OF(t->skel);
	if (t->trace.chrome && !t->session.list)
		chrome_open(&t->trace.timeline.out, t->trace.chrome);
	if (t->trace.gpu_time && !t->session.list)
		open_gpu_time(t);
}

static void start(void *ctx)
{
	struct tracer *t = ctx;

	if (t->trace.launches)
		syms_each(t->session.syms, trace_execution_scan, t->trace.programs);
	t->trace.lines.color = color_wanted(t->color);
	if (!t->trace.summary && !t->trace.chrome && !t->trace.folded)
		trace_lines_init(&t->trace.lines, !session_is_alone(&t->session));
	t->inflight = (struct inflight)INFLIGHT_OF(t->skel, &t->session, t->trace.lines.stacks && !t->trace.summary);
	t->inflight.devices = t->trace.summary ? &t->trace.calls.seen : &t->trace.lines.seen;
	inflight_start(&t->inflight);
}

/* For each process with a call in flight, the longest first.  Known where launches and waits are traced. */
static void show_outstanding(struct tracer *t)
{
	const struct inflight *r = &t->inflight;

	for (size_t i = 0; i < r->n && !t->trace.expression && !t->trace.summary; i++) {
		const struct sticky_error *work = trace_sticky_outstanding(&t->trace.sticky, r->rows[i].pid);
		size_t before = 0;

		while (before < i && r->rows[before].pid != r->rows[i].pid)
			before++;
		if (work && before == i)
			trace_outstanding(&r->rows[i], work, t->trace.names);
	}
}

/* --folded, --chrome and --unchecked print nothing else; without return probes no call is in flight. */
static void show_inflight(struct tracer *t)
{
	const struct trace *trace = &t->trace;

	if (trace->folded || trace->chrome || trace->unchecked || trace->no_returns)
		return;
	inflight_collect(&t->inflight);
	show_outstanding(t);
	inflight_view(&t->inflight);
}

static int record(void *ctx, void *data, size_t size)
{
	struct tracer *t = ctx;

	return trace_record(&t->trace, data, size);
}

static void collect(struct tracer *t)
{
	unsigned int epoch = aggregate_flip(&t->skel->bss->aggregate_epoch);

	aggregate_collect(&t->aggregates, t->skel->maps.aggregates, epoch);
	for (const struct aggregate *g = t->aggregates.groups; g; g = g->hh.next)
		trace_counted(&t->trace, g);
	aggregate_clear(&t->aggregates);
	process_tidy(&t->session.processes);
	t->collect_at = clock_ns() + COLLECT_NS;
}

static bool tick(void *ctx)
{
	struct tracer *t = ctx;

	if (t->trace.gpu_time)
		gpu_time_tick(&t->trace.gpu.time);
	if (t->trace.aggregate && t->session.json &&
	    (clock_ns() >= t->collect_at || aggregate_is_crowded(&t->aggregates, t->skel->bss->aggregate_epoch)))
		collect(t);
	trace_repeats_tick(&t->trace.repeats, clock_ns());
	return !trace_done(&t->trace);
}

static int stop(void *ctx, int sig)
{
	struct tracer *t = ctx;

	trace_tree_end(&t->trace.trees, -1);
	trace_repeats_end(&t->trace.repeats, -1);
	if (t->trace.aggregate)
		collect(t);
	if (t->trace.summary)
		trace_summary_print(&t->trace.calls);
	if (t->trace.summary && t->trace.lines.stacks && !t->trace.folded)
		trace_summary_stacks(&t->trace.sums);
	if (t->trace.folded)
		folded_sums(&t->trace.sums);
	show_inflight(t);
	return sig;
}

static int finish(void *ctx, int status)
{
	struct tracer *t = ctx;

	if (t->trace.gpu_time && t->trace.gpu.out) {
		gpu_time_stop(&t->trace.gpu.time);
		trace_gpu_close(&t->trace.gpu);
	}
	if (t->trace.timeline.out.file && !trace_chrome_close(&t->trace.timeline))
		status = status ? status : EXIT_FAILURE;
	inflight_free(&t->inflight);
	aggregate_free(&t->aggregates);
	trace_free(&t->trace);
	executions_free(t->trace.programs);
	return status;
}

int main(int argc, char **argv)
{
	struct tracer tracer = {
		.trace.names = KERNEL_BRIEF, .trace.processes = &tracer.session.processes, .trace.sums = STACK_SUMS_INIT(&tracer.session.processes),
		.trace.calls.processes = &tracer.session.processes,
		.session = SESSION_INIT, .trace.profile = PROFILE_INIT(&called, &tracer.session.processes),
		.events = { .record = record, .tick = tick, .ctx = &tracer },
	};
	struct trace *trace = &tracer.trace;
	const unsigned none = 0;
	const struct opt opts[] = {
		OPT_TARGET(&tracer.session),
		OPT_DEVICE(&tracer.session),
		OPT_LIST('e', "trace", "EXPR", &trace->expression, trace_select_word, "functions to trace: groups, names, patterns, !; see the manual"),
		OPT_FLAG('x', "failed", &trace->failed, "print only failed calls"),
		OPT_TIME(0, "slower", "US", &trace->slower, VALUE_US, 0, "print only calls that took at least US microseconds"),
		OPT_NUM('n', "max-events", "N", &trace->max, 1, "stop after N calls"),
		OPT_COUNT('t', "timestamp", &trace->lines.times, "print a column with the time of day; -tt: with microseconds"),
		OPT_FLAG('r', "relative", &trace->lines.relative, "print a column with the time since the previous line"),
		OPT_FLAG('T', "time-spent", &trace->lines.durations, "print the time spent in each call"),
		OPT_FLAG('k', "stacks", &trace->lines.stacks, "print call stacks"),
		OPT_STACKS(&tracer.session),
		OPT_FLAG(0, "folded", &trace->folded, "at the end, print one line per stack, for flame graphs: nanoseconds"),
		OPT_PPROF(&trace->profile),
		OPT_FLAG('S', "summary", &trace->summary, "print only a table by function, at the end"),
		OPT_STR('o', "output", "FILE", &trace->output, "write to FILE instead of standard output"),
		OPT_FLAG(0, "enter", &trace->lines.entries, "also print a line at the entry of each call"),
		OPT_FLAG(0, "enter-only", &trace->no_returns, "print only lines at entries: no return probes"),
		OPT_FLAG(0, "tree", &trace->tree, "also print nested calls, indented"),
		OPT_FLAG(0, "unchecked", &trace->unchecked, "print only failed calls whose error was never checked"),
		OPT_STR(0, "chrome", "FILE", &trace->chrome, "write only a timeline for Perfetto to FILE"),
		OPT_FLAG(0, "gpu-time", &trace->gpu_time, "with --chrome: also what runs on the GPU, by CUPTI"),
		OPT_FLAG(0, "graph-nodes", &trace->nodes, "with --gpu-time: each kernel of a graph, not the whole"),
		OPT_KERNEL_NAMES(&trace->names, "how lines and timelines call kernels; default: brief"),
		OPT_CHOICE(0, "color", COLOR_WORDS, &tracer.color, "mark names and errors; default: auto, on a terminal"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .session = &tracer.session, .events = &tracer.events,
		.stacks = &trace->lines.stacks, .folded = &trace->folded, .profile = &trace->profile, .source = &trace->source,
		.classes = &none, .devices = true,
		.ctx = &tracer, .check = check, .open = open_skel,
		.loaded = loaded, .start = start, .stop = stop, .close = finish,
	};

	return tool_run(&tool, argc, argv);
}
