// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudaleak - show what CUDA memory or handles are not freed, by call stack */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/top_screen.h"
#include "cudaleak/graph_table.h"
#include "cudaleak/leak_screen.h"
#include "cudaleak/leak_view.h"
#include "model/account.h"
#include "nvml/nvml.h"
#include "pprof/profile.h"
#include "proc/proc.h"
#include "session/live.h"
#include "session/tool.h"
#include "sym/syms.h"
#include "view/account_view.h"
#include "view/chrome.h"
#include "cudaleak.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show CUDA memory that is allocated and not freed, by process, kind of memory and call\n"
		"stack, largest first: on a terminal live in place, every interval (1 second), unless -c is\n"
		"given without an interval; otherwise in blocks, every interval (5 seconds; none with -c and\n"
		"--folded), at the end, and when a process exits, what it never freed.",
	.examples =
	"  cudaleak                            # every process, live\n"
	"  cudaleak -b -p 181                  # one process, a block every 5 seconds\n"
	"  cudaleak -c './train 10'            # memory that the command never freed\n"
	"  cudaleak -o 1m -T 3 -p 181 30       # older than a minute, the 3 largest\n"
	"  cudaleak --growth -p 181 1m 2       # growth within a minute\n"
	"  cudaleak --account -p 181           # which libraries hold how much\n"
	"  cudaleak --handles -p 181 5         # streams, events, modules, graphs ...\n"
	"  cudaleak --folded -c ./train >leaks # for flamegraph.pl --countname bytes\n"
	"  cudaleak --pprof held.pb.gz -c ./train # for go tool pprof\n",
};

static const struct profile_kind held = {
	.values = { { "held", "bytes" }, { "allocations", "count" } }, .leaf = "memory",
};

static const struct profile_kind handles = {
	.values = { { "handles", "count" } }, .leaf = "kind",
};

/* A larger factor only multiplies chance, and could overflow the estimates. */
enum { SAMPLE_MAX = 1000000 };

struct leak {
	struct memory memory;
	struct graph_table graphs;
	struct leak_view view;
	struct leak_screen screen;
	long min, max;
	bool stacks;		/* an option of call stacks was given; after check(): they are taken */
	bool batch, default_interval;
	bool account;
	unsigned classes;	/* of functions */
	struct nvml nvml;	/* with account */
	bool exits;		/* a process that exited was reported */
	long reports;
	unsigned long long allocs, frees;	/* recorded */
	struct profile profile;	/* of what is held at the end, or when a process exits */
	const char *chrome;	/* file of the timeline; NULL: none */
	struct chrome timeline;
	char *who;
	struct session session;
	struct event_loop events;
	struct cudaleak_bpf *skel;
};

/* Returns true if a selected process used CUDA before tracing began. */
static bool any_preexisting(const struct leak *l)
{
	const struct process_entry *p = l->session.processes.all;

	while (p && !(p->preexisting && filter_wants(&l->session.selected, p->pid)))
		p = p->hh.next;
	return p;
}

/* process: NULL: no call of it was seen.  With --device only part of the memory is counted: not comparable with NVML's total. */
static struct account_report account_now(struct leak *l, int pid, const char *comm, const struct mem_process *process, const char *at)
{
	return (struct account_report){
		.time = l->view.options.now, .pid = pid, .comm = comm, .at = at, .process = process,
		.container = process_container(&l->session.processes, pid), .complete = process && !process->preexisting,
		.nvml = l->session.devices ? NULL : &l->nvml, .helpers = &l->session.helpers,
	};
}

static void report_account(struct leak *l, int pid, const char *comm, const struct mem_process *process, const char *at)
{
	const struct account_report r = account_now(l, pid, comm, process, at);

	account_view(&r);
}

/* Prints the processes that used CUDA before tracing began and have not called since; returns true if there are any. */
static bool report_preexisting(struct leak *l)
{
	const struct process_entry *p;
	struct mem_process *process;
	bool any = false;
	char comm[16];

	for (p = l->session.processes.all; p; p = p->hh.next) {
		if (!p->preexisting)
			continue;
		HASH_FIND_INT(l->memory.processes, &p->pid, process);
		if (process || !filter_wants(&l->session.selected, p->pid) || !proc_comm(p->pid, comm))
			continue;
		any = true;
		if (l->account)
			report_account(l, p->pid, comm, NULL, "interval");
		else
			leak_view_nothing(&l->view, p->pid, comm, "interval", false);
	}
	return any;
}

static void print_nothing(const struct leak *l)
{
	const char *allocation = l->memory.handles ? "handle" : "allocation";

	printf("[%s] nothing held: %llu %s%s and %llu %s%s %s", out_clock(), l->allocs, allocation,
	       plural(l->allocs), l->frees, l->memory.handles ? "destroy" : "free", plural(l->frees),
	       l->view.options.sample > 1 ? "recorded" : "seen");
	if (any_preexisting(l))
		preexisting_text(&l->session.processes, l->memory.handles ? "handles" : "allocations");
	putchar('\n');
}

static void report_process(struct leak *l, const struct mem_process *process, const char *at)
{
	if (l->account)
		report_account(l, process->pid, process->comm, process, at);
	else
		leak_view_process(&l->view, process, at);
}

static void report(struct leak *l, const char *at)
{
	const struct mem_process *p;
	bool any = false;

	process_tidy(&l->session.processes);
	l->view.options.now = clock_ns();
	for (p = l->memory.processes; p; p = p->hh.next)
		leak_view_devices(&l->view, p);
	for (p = l->memory.processes; p; p = p->hh.next) {
		if (!p->allocations && !p->unknown && !out_is_json() && !l->view.growth && !l->account)
			continue;
		report_process(l, p, at);
		any = true;
	}
	if ((out_is_json() || l->account) && !l->view.growth)
		any |= report_preexisting(l);
	if (out_is_json() && !l->view.growth && !any && !l->account)
		leak_view_nothing(&l->view, 0, NULL, at, true);
	else if (!out_is_json() && !any && !l->view.folded)
		print_nothing(l);
}

static void report_interval(void *ctx)
{
	struct leak *l = ctx;

	if (screen_is_open()) {
		l->screen.preexisting = any_preexisting(l);
		leak_screen_update(&l->screen);
		return;
	}
	report(l, "interval");
	leak_view_mark(&l->view, &l->memory, MEM_LAST);
	if (!l->reports++ && l->view.growth)
		leak_view_mark(&l->view, &l->memory, MEM_FIRST);
}

/* now: CLOCK_MONOTONIC, ns */
static void report_exit(struct leak *l, const struct mem_process *process, unsigned long long now)
{
	const enum mem_snapshot mark = l->view.options.mark;

	l->view.options.now = now;
	leak_view_devices(&l->view, process);
	leak_view_profile(&l->view, process, &l->profile);
	if (l->view.growth)
		l->view.options.mark = MEM_FIRST;
	if (screen_is_open())
		leak_screen_exit(&l->screen, process);
	else
		report_process(l, process, "exit");
	l->view.options.mark = mark;
	l->exits = true;
}

static void report_end(struct leak *l)
{
	const bool live = screen_is_open();

	screen_close();
	leak_screen_end(&l->screen);
	if (!l->memory.processes && l->exits)
		return;
	if (!l->view.growth) {
		if (live || !l->events.counted_out)
			report(l, "interval");
	} else if (!l->events.counted_out || l->reports > 2) {	/* the second of two showed all growth */
		l->view.options.mark = MEM_FIRST;
		report(l, "end");
	}
}

static void profile_end(struct leak *l)
{
	l->view.options.now = clock_ns();
	for (const struct mem_process *p = l->memory.processes; p; p = p->hh.next)
		leak_view_profile(&l->view, p, &l->profile);
}

static bool tick(void *ctx)
{
	struct leak *l = ctx;

	return live_tick(&l->screen.top);
}

/* Returns true if reports are made every interval, in a form that fits the screen. */
static bool wants_screen(const struct leak *l)
{
	const struct leak_view *v = &l->view;

	return !l->batch && !v->growth && !v->folded && !v->options.each && !l->account && l->events.interval_ns;
}

static void start(void *ctx)
{
	struct leak *l = ctx;

	l->view.began = clock_ns();
	if (!wants_screen(l))
		return;
	leak_screen_init(&l->screen);
	l->screen.top.who = l->who = session_who(&l->session);
	if (live_start(&l->session, &l->events, false) && l->default_interval)
		l->events.interval_ns = VALUE_S;
}

static void on_end(void *ctx, const struct process_event *e)
{
	struct leak *l = ctx;
	struct mem_process *process = memory_process(&l->memory, e);

	if (process)
		report_exit(l, process, e->time);
	if (process && l->chrome) {
		chrome_held_end(&l->timeline, process, e->time);
		chrome_name(&l->timeline, process->pid, 0, process->comm);
	}
	memory_forget(process);
	graph_table_ended(&l->graphs, e);
}

static void on_replay(struct leak *l, const struct launch_event *e)
{
	unsigned long long began = clock_ns();
	struct graph_now graph = graph_table_now(&l->graphs, e->key.program, e->subject);
	struct memory_replay r = {
		.pid = e->head.pid, .comm = e->comm, .time = e->time, .start = e->owner, .device = e->key.device,
		.content = graph.content, .made = graph.made,
	};

	if (graph.content && graph.content->memory)
		memory_replay(&l->memory, &r);
	graph_table_charge(&l->graphs, e->key.program, began);
	if (l->chrome && r.process && (r.allocs || r.frees))
		chrome_held(&l->timeline, r.process, e->time, l->view.options.sample);
	l->allocs += r.allocs;
	l->frees += r.frees;
	graph_content_put(graph.content);
}

static void on_graph(struct leak *l, const struct launch_event *e, size_t size)
{
	if (size < sizeof(*e))
		return;
	process_container(&l->session.processes, e->head.pid);
	if (e->head.kind == LAUNCH_REPLAYED)
		on_replay(l, e);
	else
		graph_table_record(&l->graphs, e, size);
}

static void on_failure(struct leak *l, struct mem_process *process, const struct memory_event *e)
{
	struct account_report r;

	if (!l->account || !account_is_due(process, e))
		return;
	l->view.options.now = e->time;
	r = account_now(l, process->pid, process->comm, process, "failure");
	r.func = cuda_fns[e->head.kind].name;
	r.size = e->size;
	account_view(&r);
}

/* Return true if the function makes what is reported. */
static bool makes(const struct leak *l, const struct cuda_fn *fn)
{
	return l->memory.handles ? cuda_fn_handles(fn) && cuda_fn_makes_handle(fn) : fn->class == CUDA_ALLOC;
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct memory_event *e = data;
	struct leak *l = ctx;
	const struct cuda_fn *fn;
	const struct stack *stack;
	struct memory_effect did;

	if (launch_is_record(&e->head)) {
		on_graph(l, data, size);
		return 0;
	}
	if (!memory_event_is_right(data, size))
		return 0;
	fn = &cuda_fns[e->head.kind];
	process_container(&l->session.processes, e->head.pid);	/* the process may have exited by the report */
	stack = stack_get(l->session.syms, e->head.pid, e->stack, e->head.frames);
	did = memory_apply(&l->memory, e, stack);
	on_failure(l, did.process, e);
	if (l->chrome)
		chrome_held(&l->timeline, did.process, e->time, l->view.options.sample);
	l->allocs += makes(l, fn) && !did.left_out && !e->ret;
	l->frees += l->memory.handles ? cuda_fn_handles(fn) && !cuda_fn_makes_handle(fn) : fn->class == CUDA_FREE;
	return 0;
}

static void check_options(const struct leak *l)
{
	const struct leak_options *o = &l->view.options;

	if (l->view.totals && (l->view.folded || l->stacks))
		usage_error("--totals cannot be combined with --folded, --pprof, --stack, "
			    "--unwind, --stack-size or --lines");
	if (l->view.growth && (l->view.folded || l->profile.path || o->each || o->older_ns))
		usage_error("--growth cannot be combined with --each, --older, --folded or --pprof");
	if (o->each && (o->sort == LEAK_SORT_PEAK || o->sort == LEAK_SORT_GROWTH))
		usage_error("--each cannot be combined with --sort %s",
			    o->sort == LEAK_SORT_PEAK ? "peak" : "growth");
	if (l->account && (l->view.growth || l->view.totals || l->view.folded || o->each || o->older_ns || o->tensors || l->min || l->max != LONG_MAX || o->sample > 1))
		usage_error("--account cannot be combined with --growth, --totals, --folded, --each, --older, --tensors, --min-size, "
			    "--max-size or --sample");
	if (l->memory.handles && (l->account || o->tensors || o->sample > 1 || l->min || l->max != LONG_MAX || l->chrome))
		usage_error("--handles cannot be combined with --account, --tensors, --sample, --min-size, --max-size or --chrome");
	if (o->sample > SAMPLE_MAX)
		usage_error("--sample: '%ld' is not an integer <= %d", o->sample, SAMPLE_MAX);
	if (l->chrome && out_is_file(l->chrome))
		usage_error("--chrome %s: the output goes to the same file", l->chrome);
	if (l->min > l->max)
		usage_error("--min-size is larger than --max-size");
}

static void check(void *ctx)
{
	struct leak *l = ctx;
	struct leak_view *v = &l->view;

	check_options(l);
	l->session.needs_kernel = l->view.options.tensors || l->account;
	l->classes = l->memory.handles ? HANDLE_CLASSES :
		     MEMORY_CLASSES | CUDA_REPLAYS | CUDA_GRAPH_CLASSES | (l->account ? ACCOUNT_CLASSES : 0);
	v->handles = l->memory.handles;
	l->profile.kind = v->handles ? &handles : &held;
	l->screen.rows = v->top;
	if (v->options.sort < 0)
		v->options.sort = v->growth ? LEAK_SORT_GROWTH : LEAK_SORT_HELD;
	if (!v->top)
		v->top = v->options.each || l->session.json ? LONG_MAX : 10;
	l->stacks = !v->totals;
	l->default_interval = l->events.interval_ns < 0;
	if (l->default_interval)
		l->events.interval_ns = l->session.command || v->folded ? 0 : 5l * VALUE_S;
	l->memory.filter.devices = l->session.devices;
	l->memory.filter.any = l->min || l->max != LONG_MAX || v->options.sample > 1;
	l->memory.filter.min = l->min;
	l->memory.filter.max = l->max != LONG_MAX ? l->max : 0;
	l->memory.filter.sample = l->profile.period = v->options.sample;
	v->filtered = l->memory.filter.any || l->session.devices;
	v->devices.several = l->session.devices;
}

static void *open_skel(void *ctx)
{
	struct leak *l = ctx;

	process_on_end(&l->session.processes, on_end, l);
	leak_view_init(&l->view);
	l->memory.table = l->view.processes = &l->session.processes;
	l->skel = cudaleak_bpf__open();
	if (!l->skel)
		return NULL;
	if (session_is_alone(&l->session)) {
		l->memory.quota.whole = true;
		l->memory.quota.limit = MEMORY_ALONE;
	}
	l->session.probes.usdt = l->skel->rodata->memory_tensors = l->view.options.tensors || (l->account && !l->session.inject);
	l->skel->rodata->memory_failures = l->account;
	l->skel->rodata->memory_stacks = l->stacks;
	l->skel->rodata->memory_handles = l->memory.handles;
	l->skel->rodata->memory_graphs = !l->memory.handles;
	l->session.probes.return_classes = ~(1u << CUDA_EVENT);
	l->skel->rodata->memory_min = l->min;
	l->skel->rodata->memory_max = l->max;
	l->skel->rodata->memory_sample = l->view.options.sample;
	return l->skel;
}

static int stop(void *ctx, int sig)
{
	struct leak *l = ctx;

	report_end(l);
	profile_end(l);
	return sig;
}

static void loaded(void *ctx)
{
	struct leak *l = ctx;

	graph_table_init(&l->graphs, l->session.syms);
	l->graphs.quota.whole = session_is_alone(&l->session);
	l->graphs.captures = (struct captures)CAPTURES_OF(l->skel);
	if (l->account)
		nvml_start(&l->nvml, &l->session.helpers.helper, l->session.verbose);
	if (l->chrome && !l->session.list)
		chrome_open(&l->timeline, l->chrome);
}

static int finish(void *ctx, int status)
{
	struct leak *l = ctx;

	if (l->view.options.tensors)
		session_check_usdt(&l->session);
	if (l->graphs.lost)
		warning(0, "%llu nodes of graphs not followed: " GRAPHS_LOST, l->graphs.lost);
	graph_table_free(&l->graphs);
	if (l->account)
		nvml_close(&l->nvml);
	if (l->timeline.file) {
		for (const struct mem_process *p = l->memory.processes; p; p = p->hh.next)
			chrome_name(&l->timeline, p->pid, 0, p->comm);
		if (!chrome_close(&l->timeline))
			status = status ? status : EXIT_FAILURE;
	}
	free(l->who);
	return status;
}

int main(int argc, char **argv)
{
	struct leak leak = {
		.memory = MEMORY_INIT, .max = LONG_MAX, .session = SESSION_INIT,
		.profile = PROFILE_INIT(&held, &leak.session.processes),
		.view.options = { .sample = 1, .sort = -1 },
		.screen = { .view = &leak.view, .memory = &leak.memory },
		.events = {
			.record = on_record, .report = report_interval, .tick = tick, .interval_ns = -1,
			.ctx = &leak,
		},
	};
	int status;
	const struct opt opts[] = {
		OPT_TARGET(&leak.session),
		OPT_DEVICE(&leak.session),
		OPT_FLAG('b', "batch", &leak.batch, "print blocks of text even on a terminal"),
		OPT_FLAG('a', "each", &leak.view.options.each, "show each allocation instead of groups by stack"),
		OPT_TIME('o', "older", "MS", &leak.view.options.older_ns, VALUE_MS, 0, "show only allocations older than MS milliseconds"),
		OPT_SIZE('z', "min-size", "SIZE", &leak.min, "record only allocations of at least SIZE bytes"),
		OPT_SIZE('Z', "max-size", "SIZE", &leak.max, "record only allocations of at most SIZE bytes"),
		OPT_NUM('T', "top", "N", &leak.view.top, 1, "show the N largest; default: 10, all with -a, -j and live"),
		OPT_CHOICE(0, "sort", LEAK_SORT_WORDS, &leak.view.options.sort, "sort order; default: held, growth with --growth"),
		OPT_FLAG(0, "growth", &leak.view.growth, "show growth since the last report, at the end in total"),
		OPT_FLAG('C', "totals", &leak.view.totals, "show totals without call stacks; costs less"),
		OPT_NUM('s', "sample", "N", &leak.view.options.sample, 1, "record one allocation in N and estimate the rest"),
		OPT_FLAG(0, "tensors", &leak.view.options.tensors, "show memory that PyTorch's allocator holds for tensors"),
		OPT_FLAG(0, "handles", &leak.memory.handles, "show streams, events, modules, graphs and other handles instead of memory"),
		OPT_FLAG(0, "account", &leak.account, "show which libraries hold how much, also when an allocation fails"),
		OPT_FLAG(0, "folded", &leak.view.folded, "at the end, print one line per stack, for flame graphs: bytes"),
		OPT_PPROF(&leak.profile),
		OPT_STR(0, "chrome", "FILE", &leak.chrome, "also write a timeline of held bytes for Perfetto to FILE"),
		OPT_STACKS(&leak.session),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .interval = true, .session = &leak.session,
		.events = &leak.events, .stacks = &leak.stacks, .folded = &leak.view.folded, .profile = &leak.profile,
		.classes = &leak.classes, .devices = true, .ctx = &leak, .check = check,
		.open = open_skel, .loaded = loaded, .start = start, .stop = stop, .close = finish,
	};

	status = tool_run(&tool, argc, argv);
	memory_free(&leak.memory);
	return status;
}
