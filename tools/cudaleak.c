// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudaleak - show what CUDA memory is allocated and not freed, by call stack */
#include <limits.h>
#include <stdio.h>
#include "base/clock.h"
#include "base/plural.h"
#include "cudaleak/leak_view.h"
#include "cli/out.h"
#include "proc/proc.h"
#include "sym/syms.h"
#include "session/tool.h"
#include "cudaleak.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show CUDA memory that is allocated and not freed, by process, kind of memory and call\n"
		"stack, largest first: every interval (5 seconds; none with -c and --folded), at the\n"
		"end, and when a process exits, what it never freed.",
	.examples =
	"  cudaleak -p 181                     # one process, every 5 seconds\n"
	"  cudaleak -c './train 10'            # what the command never freed\n"
	"  cudaleak -o 60000 -T 3 -p 181 30    # older than a minute, the 3 largest, every 30 s\n"
	"  cudaleak --folded -c ./train >leaks # for flamegraph.pl --countname bytes\n",
};

/* A larger factor only multiplies chance, and could overflow the estimates. */
enum { SAMPLE_MAX = 1000000 };

struct leak {
	struct memory memory;
	struct leak_view view;
	long min, max;
	bool stacks;		/* an option of call stacks was given; then: they are taken */
	bool reported;		/* a process that exited was reported */
	unsigned long long allocs, frees;
	struct target target;
	struct event_loop events;
	struct cudaleak_bpf *skel;
};

/* Prints in JSON the processes that used CUDA before tracing began, and have made no call since. */
static void report_early(struct leak *l)
{
	const struct early_process *e;
	struct mem_process *known;
	char comm[16];

	for (e = l->target.early.processes; e; e = e->hh.next) {
		HASH_FIND_INT(l->memory.processes, &e->pid, known);
		if (!known && proc_comm(e->pid, comm))
			leak_view_nothing(&l->view, e->pid, comm, "interval");
	}
}

static void nothing(const struct leak *l)
{
	printf("[%s] nothing held: %llu allocation%s and %llu free%s %s", out_clock(), l->allocs,
	       plural(l->allocs), l->frees, plural(l->frees),
	       l->view.options.sample > 1 ? "recorded" : "seen");
	if (l->target.early.processes)
		leak_view_early(&l->view);
	putchar('\n');
}

static void report(void *ctx)
{
	struct leak *l = ctx;
	const struct mem_process *h;
	bool any = false;

	early_tidy(&l->target.early);
	l->view.options.now = clock_ns();
	for (h = l->memory.processes; h; h = h->hh.next) {
		if (!h->allocations && !h->unknown && !(h->early && out_is_json()))
			continue;
		leak_view_process(&l->view, h, "interval");
		any = true;
	}
	if (out_is_json())
		report_early(l);
	else if (!any && !l->view.folded)
		nothing(l);
}

static bool is_early(void *ctx, int pid)
{
	const struct leak *l = ctx;

	return early_has(&l->target.early, pid);
}

static void start(void *ctx)
{
	struct leak *l = ctx;

	snprintf(l->view.since, sizeof(l->view.since), "%s", out_clock());
}

static void on_gone(struct leak *l, const struct process_event *e)
{
	struct mem_process *process = memory_process(&l->memory, e);

	l->view.options.now = e->time;
	if (process) {
		leak_view_process(&l->view, process, "exit");
		l->reported = true;
	}
	memory_forget(process);
	early_drop(&l->target.early, e->head.pid);
	syms_forget(l->target.syms, e->head.pid);
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct memory_event *e = data;
	struct leak *l = ctx;
	const struct stack *stack;
	struct memory_effect did;

	(void)size;
	if (record_is_process_event(data)) {
		on_gone(l, data);
		return 0;
	}
	stack = stack_get(l->target.syms, e->head.pid, e->stack, e->head.frames);
	did = memory_apply(&l->memory, e, stack);
	l->allocs += cuda_fns[e->head.kind].class == CUDA_ALLOC && !did.left_out;
	l->frees += cuda_fns[e->head.kind].class == CUDA_FREE;
	return 0;
}

static void check(void *ctx)
{
	struct leak *l = ctx;
	struct leak_view *v = &l->view;

	if (v->totals && (v->folded || l->stacks))
		usage_error("--totals has no call stacks; it cannot be combined with --folded, --stack, "
			    "--unwind, --stack-size or --lines");
	l->stacks = !v->totals;
	if (l->min > l->max)
		usage_error("--min-size is larger than --max-size");
	if (v->options.sample > SAMPLE_MAX)
		usage_error("--sample: '%ld' is not an integer <= %d", v->options.sample, SAMPLE_MAX);
	if (!v->top)
		v->top = v->options.each ? LONG_MAX : 10;
	if (l->events.interval < 0)
		l->events.interval = l->target.command || v->folded ? 0 : 5;
	l->memory.filter.devices = l->target.devices;
	l->memory.filter.any = l->min || l->max != LONG_MAX || v->options.sample > 1;
	l->memory.filter.min = l->min;
	l->memory.filter.sample = v->options.sample;
	v->filtered = l->memory.filter.any || l->target.devices;
	v->devices.several = l->target.devices;
}

static void *open_skel(void *ctx)
{
	struct leak *l = ctx;

	leak_view_init(&l->view);
	l->memory.is_early = is_early;
	l->memory.ctx = l;
	l->skel = cudaleak_bpf__open();
	if (!l->skel)
		return NULL;
	if (target_is_alone(&l->target)) {
		l->memory.quota.whole = true;
		l->memory.quota.limit = MEMORY_ALONE;
	}
	l->skel->rodata->memory_stacks = l->stacks;
	l->skel->rodata->memory_min = l->min;
	l->skel->rodata->memory_max = l->max;
	l->skel->rodata->memory_sample = l->view.options.sample;
	return l->skel;
}

/* A process that exited was already reported. */
static int stop(void *ctx, int sig)
{
	struct leak *l = ctx;

	if (!l->events.counted_out && (l->memory.processes || !l->reported))
		report(l);
	return sig;
}

int main(int argc, char **argv)
{
	struct leak leak = {
		.memory = MEMORY_INIT, .view.options.sample = 1, .max = LONG_MAX, .target = TARGET_INIT,
		.events = { .record = on_record, .report = report, .interval = -1, .ctx = &leak },
	};
	const unsigned classes = MEMORY_CLASSES;
	int status;
	const struct opt opts[] = {
		OPT_TARGET(&leak.target),
		OPT_DEVICE(&leak.target),
		OPT_FLAG('a', "each", &leak.view.options.each, "show each allocation instead of groups by stack"),
		OPT_NUM('o', "older", "MS", &leak.view.options.older_ms, 0, "show only allocations older than MS milliseconds"),
		OPT_SIZE('z', "min-size", "SIZE", &leak.min, "record only allocations of at least SIZE bytes"),
		OPT_SIZE('Z', "max-size", "SIZE", &leak.max, "record only allocations of at most SIZE bytes"),
		OPT_NUM('T', "top", "N", &leak.view.top, 1, "show the N largest; default: 10, all with -a and --folded"),
		OPT_FLAG('C', "totals", &leak.view.totals, "show totals without call stacks; costs less"),
		OPT_NUM('s', "sample", "N", &leak.view.options.sample, 1, "record one allocation in N and estimate the rest"),
		OPT_FLAG(0, "folded", &leak.view.folded, "at the end, print one line per stack, for flame graphs: bytes"),
		OPT_STACKS(&leak.target),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .interval = true, .target = &leak.target,
		.events = &leak.events, .stacks = &leak.stacks, .folded = &leak.view.folded,
		.classes = &classes, .devices = true, .ctx = &leak, .check = check,
		.open = open_skel, .start = start, .stop = stop,
	};

	status = tool_run(&tool, argc, argv);
	memory_free(&leak.memory);
	return status;
}
