// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudaleak - show what CUDA memory is allocated and not freed, by call stack */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include "cudaleak/leak_check.h"
#include "cudaleak/leak_chrome.h"
#include "cudaleak/leak_report.h"
#include "cudaleak/leak_view.h"
#include "cli/top_screen.h"
#include "session/live.h"
#include "sym/syms.h"
#include "session/tool.h"
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
	"  cudaleak -c './train 10'            # what the command never freed\n"
	"  cudaleak -o 1m -T 3 -p 181 30       # older than a minute, the 3 largest\n"
	"  cudaleak --growth -p 181 1m 2       # what grew within a minute\n"
	"  cudaleak --folded -c ./train >leaks # for flamegraph.pl --countname bytes\n",
};

struct leak {
	struct memory memory;
	struct leak_report report;
	long min, max;
	bool stacks;		/* an option of call stacks was given; then: they are taken */
	bool batch, default_interval;
	char *who;
	struct leak_chrome chrome;
	struct session session;
	struct event_loop events;
	struct cudaleak_bpf *skel;
};

static void report(void *ctx)
{
	struct leak *l = ctx;

	leak_report_interval(&l->report);
}

static bool tick(void *ctx)
{
	struct leak *l = ctx;

	return !screen_is_open() || top_view_keys(&l->report.screen.top);
}

/* Return true if reports are made every interval, in a form that fits the screen. */
static bool wants_screen(const struct leak *l)
{
	const struct leak_view *v = &l->report.view;

	return !l->batch && !v->growth && !v->folded && !v->options.each && l->events.interval_ns;
}

static void start(void *ctx)
{
	struct leak *l = ctx;

	leak_view_start(&l->report.view);
	if (!wants_screen(l))
		return;
	leak_screen_init(&l->report.screen);
	l->report.screen.top.who = l->who = session_who(&l->session);
	if (live_start(&l->session, &l->events, false) && l->default_interval)
		l->events.interval_ns = VALUE_S;
}

static void on_end(void *ctx, const struct process_event *e)
{
	struct leak *l = ctx;
	struct mem_process *process = memory_process(&l->memory, e);

	if (process)
		leak_report_exit(&l->report, process, e->time);
	if (process)
		leak_chrome_exit(&l->chrome, process, e->time);
	memory_forget(process);
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct memory_event *e = data;
	struct leak *l = ctx;
	const struct stack *stack;
	struct memory_effect did;

	if (!memory_event_is_right(data, size))
		return 0;
	containers_of(&l->session.containers, e->head.pid);	/* it may be gone at the report */
	stack = stack_get(l->session.syms, e->head.pid, e->stack, e->head.frames);
	did = memory_apply(&l->memory, e, stack);
	leak_chrome_held(&l->chrome, did.process, e->time, l->report.view.options.sample);
	l->report.allocs += cuda_fns[e->head.kind].class == CUDA_ALLOC && !did.left_out;
	l->report.frees += cuda_fns[e->head.kind].class == CUDA_FREE;
	return 0;
}

static void check(void *ctx)
{
	struct leak *l = ctx;
	struct leak_view *v = &l->report.view;

	l->report.screen.rows = v->top;
	leak_check(v, l->stacks, l->session.json);
	l->stacks = !v->totals;
	leak_chrome_check(&l->chrome);
	if (l->min > l->max)
		usage_error("--min-size is larger than --max-size");
	l->default_interval = l->events.interval_ns < 0;
	if (l->default_interval)
		l->events.interval_ns = l->session.command || v->folded ? 0 : 5l * VALUE_S;
	l->memory.filter.devices = l->session.devices;
	l->memory.filter.any = l->min || l->max != LONG_MAX || v->options.sample > 1;
	l->memory.filter.min = l->min;
	l->memory.filter.sample = v->options.sample;
	v->filtered = l->memory.filter.any || l->session.devices;
	v->devices.several = l->session.devices;
}

static void *open_skel(void *ctx)
{
	struct leak *l = ctx;

	process_on_end(&l->session.ends, on_end, l);	/* first: it reports with what the session drops */
	session_drop_at_end(&l->session);
	leak_row_init(&l->report.view);
	l->memory.is_preexisting = session_is_preexisting;
	l->memory.ctx = &l->session;
	l->report.view.preexisting = &l->session.preexisting;
	l->report.view.containers = &l->session.containers;
	l->skel = cudaleak_bpf__open();
	if (!l->skel)
		return NULL;
	if (session_is_alone(&l->session)) {
		l->memory.quota.whole = true;
		l->memory.quota.limit = MEMORY_ALONE;
	}
	l->session.probes.usdt = l->skel->rodata->memory_tensors = l->report.view.options.tensors;
	l->skel->rodata->memory_stacks = l->stacks;
	l->skel->rodata->memory_min = l->min;
	l->skel->rodata->memory_max = l->max;
	l->skel->rodata->memory_sample = l->report.view.options.sample;
	return l->skel;
}

static int stop(void *ctx, int sig)
{
	struct leak *l = ctx;

	leak_report_end(&l->report, l->events.counted_out);
	return sig;
}

static void loaded(void *ctx)
{
	struct leak *l = ctx;

	if (!l->session.list)
		leak_chrome_open(&l->chrome);
}

static int finish(void *ctx, int status)
{
	struct leak *l = ctx;

	session_check_usdt(&l->session);
	if (!leak_chrome_close(&l->chrome, &l->memory))
		status = status ? status : EXIT_FAILURE;
	free(l->who);
	return status;
}

int main(int argc, char **argv)
{
	struct leak leak = {
		.memory = MEMORY_INIT, .max = LONG_MAX, .session = SESSION_INIT,
		.report = {
			.view.options = { .sample = 1, .sort = -1 }, .memory = &leak.memory, .preexisting = &leak.session.preexisting,
			.selected = &leak.session.selected,
			.screen = { .view = &leak.report.view, .memory = &leak.memory },
		},
		.events = {
			.record = on_record, .report = report, .tick = tick, .interval_ns = -1, .ctx = &leak,
		},
	};
	const unsigned classes = MEMORY_CLASSES;
	int status;
	const struct opt opts[] = {
		OPT_TARGET(&leak.session),
		OPT_DEVICE(&leak.session),
		OPT_FLAG('b', "batch", &leak.batch, "print blocks of text even on a terminal"),
		OPT_FLAG('a', "each", &leak.report.view.options.each, "show each allocation instead of groups by stack"),
		OPT_TIME('o', "older", "MS", &leak.report.view.options.older_ns, VALUE_MS, 0, "show only allocations older than MS milliseconds"),
		OPT_SIZE('z', "min-size", "SIZE", &leak.min, "record only allocations of at least SIZE bytes"),
		OPT_SIZE('Z', "max-size", "SIZE", &leak.max, "record only allocations of at most SIZE bytes"),
		OPT_NUM('T', "top", "N", &leak.report.view.top, 1, "show the N largest; default: 10, all with -a, -j and live"),
		OPT_CHOICE(0, "sort", LEAK_SORT_WORDS, &leak.report.view.options.sort, "what comes first; default: held, growth with --growth"),
		OPT_FLAG(0, "growth", &leak.report.view.growth, "show what grew: since the last report, at the end in total"),
		OPT_FLAG('C', "totals", &leak.report.view.totals, "show totals without call stacks; costs less"),
		OPT_NUM('s', "sample", "N", &leak.report.view.options.sample, 1, "record one allocation in N and estimate the rest"),
		OPT_FLAG(0, "tensors", &leak.report.view.options.tensors, "show what PyTorch's allocator holds for tensors"),
		OPT_FLAG(0, "folded", &leak.report.view.folded, "at the end, print one line per stack, for flame graphs: bytes"),
		OPT_STR(0, "chrome", "FILE", &leak.chrome.path, "also write a timeline of held bytes for Perfetto to FILE"),
		OPT_STACKS(&leak.session),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .interval = true, .session = &leak.session,
		.events = &leak.events, .stacks = &leak.stacks, .folded = &leak.report.view.folded,
		.classes = &classes, .devices = true, .ctx = &leak, .check = check,
		.open = open_skel, .loaded = loaded, .start = start, .stop = stop, .close = finish,
	};

	status = tool_run(&tool, argc, argv);
	memory_free(&leak.memory);
	return status;
}
