// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* @NAME@ - show how often functions of these classes are called, and how long they take:
 * @CLASSES@ */
#include <errno.h>
#include <unistd.h>
#include "view/call_top.h"
#include "api/cuda_fn.h"
#include "base/die.h"
#include "session/event_loop.h"
#include "model/aggregate.h"
#include "sym/syms.h"
#include "session/target.h"
#include "cli/top_screen.h"
#include "@NAME@.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show how often functions of CUDA are called and how long that takes: on a terminal\n"
		"live, each interval (1 second) in place; else in blocks, each interval and at the\n"
		"end.  They are\n"
		"@C_NOUNS@.",
	.examples =
	"  @NAME@ -d 5                # every process, live, for 5 seconds\n"
	"  @NAME@ -P 1 3              # by process, 3 blocks, every second\n"
	"  @NAME@ -k -r 3 -p 181 -d 1 # the 3 call sites that take the longest\n"
	"  @NAME@ -jc './train 10'    # one command, as JSON lines\n",
};

static const unsigned int classes = @MASK@;

#define AT(f) offsetof(struct call_stats, f)
enum { PID = 2, COMM };
static struct field fields[] = {
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "interval_s", NULL, 0, OUT_REAL, AT(interval) },
	[PID] = { "pid", "PID", -7, OUT_INT, AT(pid) },
	[COMM] = { "comm", "COMM", -15, OUT_STR, AT(comm) },
	{ "func", "FUNCTION", -22, OUT_STR, AT(func) },
	{ "calls", "CALLS", 10, OUT_UINT, AT(calls) },
	{ "calls_per_s", "CALLS/S", 11, OUT_REAL, AT(rate) },
	{ "failed", "FAILED", 8, OUT_UINT, AT(failed) },
	{ "total_ns", "TOTAL(us)", 12, OUT_US, AT(total) },
	{ "mean_ns", "MEAN(us)", 10, OUT_US, AT(mean) },
	{ "max_ns", "MAX(us)", 10, OUT_US, AT(max) },
@bytes|	{ "bytes", "BYTES", 14, OUT_UINT, AT(bytes) },
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ 0 }
};
enum { STACK = sizeof(fields) / sizeof(*fields) - 2 };

/* as options name them, and the keys of their fields */
@bytes|#define SORT_WORDS "total|mean|max|calls|failed|bytes|func"
@bytes|static const char *const sorts[] = { "total_ns", "mean_ns", "max_ns", "calls", "failed", "bytes",
@bytes|				     "func", NULL };
@!bytes|#define SORT_WORDS "total|mean|max|calls|failed|func"
@!bytes|static const char *const sorts[] = { "total_ns", "mean_ns", "max_ns", "calls", "failed", "func",
@!bytes|				     NULL };

static struct call_top top = { .fields = fields, .sorts = sorts };

static void report(void *ctx)
{
	(void)ctx;
	call_top_report(&top);
}

static bool tick(void *ctx)
{
	(void)ctx;
	return call_top_tick(&top);
}

static int on_record(void *ctx, void *data, size_t size)
{
	(void)ctx, (void)size;
	call_stats_record(data, false);
	return 0;
}

int main(int argc, char **argv)
{
	struct event_loop events = { .record = on_record, .report = report, .tick = tick };
	struct target target = TARGET_INIT;
	bool batch = false, pids = false, stacks = false, live;
	const struct opt opts[] = {
		OPT_TARGET(&target),
		OPT_FLAG('b', "batch", &batch, "blocks of text also on a terminal"),
		OPT_FLAG('P', "per-process", &pids, "each process apart"),
		OPT_FLAG('k', "stack", &stacks, "each call stack apart"),
		OPT_NUM('r', "rows", "ROWS", &top.rows, 1, "at most so many; default: 20, JSON and live all"),
		OPT_CHOICE('s', "sort", SORT_WORDS, &top.sort, "what comes first; default: total"),
		OPT_END
	};
	struct @NAME@_bpf *skel;
	int status;

	opt_interval(argc, argv, opt_parse(argc, argv, opts, &usage), &events.interval, &events.count);
	target_init(&target);
	if (!pids)
		fields[PID] = fields[COMM] = (struct field){ NULL, NULL, 0, OUT_INT, AT(pid) };
	if (stacks)
		target.syms = syms_new();
	else
		fields[STACK].type = OUT_END;

	skel = @NAME@_bpf__open();
	if (!skel)
		die(errno, "cannot open the BPF programs");
	skel->rodata->aggregate_stacks = stacks;
	skel->rodata->aggregate_pids = pids;
	aggregate_prepare(skel->obj, target.syms);
	target_prepare(&target, skel->obj);
	if (@NAME@_bpf__load(skel))
		die(errno, "cannot load the BPF programs");
	if (@NAME@_bpf__attach(skel))
		die(errno, "cannot attach to the ends of processes");
	target_attach(&target, classes);

	top.aggregates = skel->maps.aggregates;
	top.epoch = &skel->bss->aggregate_epoch;
	top.screen.who = target_who(&target);
	call_top_start(&top);
	if (!events.interval && !target.json && isatty(STDOUT_FILENO))
		events.interval = 1;
	live = !batch && !target.json && screen_open();
	events.ring = stacks ? skel->maps.events : NULL;
	events.lost = skel->bss->lost;
	status = event_loop_run(&target, &events);
	screen_close();
	if (!live && !events.counted_out)
		report(NULL);
	status = target_finish(&target, status);
	event_loop_lost(&events);
	syms_free(target.syms);
	@NAME@_bpf__destroy(skel);
	return status;
}
