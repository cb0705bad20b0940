// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* @NAME@ - show how long calls of these classes take, as histograms: @CLASSES@ */
#include <errno.h>
#include <stdio.h>
#include "model/call_stats.h"
#include "api/cuda_fn.h"
#include "base/die.h"
#include "session/event_loop.h"
#include "model/aggregate.h"
#include "cli/out.h"
#include "sym/syms.h"
#include "session/target.h"
#include "@NAME@.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show how long calls of CUDA take, by function, as histograms: every interval what is\n"
		"new in it, and at the end.  They are\n"
		"@C_NOUNS@.",
	.examples =
	"  @NAME@ -p 181 -d 5         # one process, for 5 seconds\n"
	"  @NAME@ -P 1 3              # all processes, each apart, 3 seconds\n"
	"  @NAME@ -k -p 181 -d 5      # by call stack\n"
@bytes|	"  @NAME@ -Bjc './train 10'   # one command, sizes too, as JSON lines\n",
@!bytes|	"  @NAME@ -jc './train 10'    # one command, as JSON lines\n",
};

static const unsigned int classes = @MASK@;

#define AT(f) offsetof(struct call_stats, f)
enum { PID = 1, COMM };
static struct field fields[] = {	/* the text is show()'s */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	[PID] = { "pid", NULL, 0, OUT_INT, AT(pid) },
	[COMM] = { "comm", NULL, 0, OUT_STR, AT(comm) },
	{ "func", NULL, 0, OUT_STR, AT(func) },
	{ "count", NULL, 0, OUT_UINT, AT(count) },
	{ "failed", NULL, 0, OUT_UINT, AT(failed) },
	{ "total_ns", NULL, 0, OUT_UINT, AT(total) },
	{ "min_ns", NULL, 0, OUT_UINT, AT(min) },
	{ "max_ns", NULL, 0, OUT_UINT, AT(max) },
	{ "p50_ns", NULL, 0, OUT_UINT, AT(p50) },
	{ "p95_ns", NULL, 0, OUT_UINT, AT(p95) },
	{ "p99_ns", NULL, 0, OUT_UINT, AT(p99) },
	{ "hist", NULL, 0, OUT_HIST, AT(hist) },
@bytes|	{ "bytes", NULL, 0, OUT_UINT, AT(bytes) },
@bytes|	{ "min_bytes", NULL, 0, OUT_UINT, AT(min_bytes) },
@bytes|	{ "max_bytes", NULL, 0, OUT_UINT, AT(max_bytes) },
@bytes|	{ "hist_bytes", NULL, 0, OUT_HIST, AT(hist_bytes) },
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ 0 }
};
@bytes|enum { STACK = sizeof(fields) / sizeof(*fields) - 2, BYTES = STACK - 4 };
@!bytes|enum { STACK = sizeof(fields) / sizeof(*fields) - 2 };

@bytes|static bool pids, stacks, bytes;
@!bytes|static bool pids, stacks;
static struct @NAME@_bpf *skel;

static void show(const struct call_stats *s)
{
	if (out_is_json()) {
		out_row(fields, s);
		return;
	}
	call_stats_text(s);
@bytes|	if (bytes)
@bytes|		call_stats_text_of_bytes(s);
	if (stacks)
		stack_text(s->stack);
	putchar('\n');
}

static void report(void *ctx)
{
	const struct call_stats *stats;
	size_t n;

	(void)ctx;
	stats = call_stats_take(skel->maps.aggregates, &skel->bss->aggregate_epoch, true, &n);
	if (!out_is_json())
		printf("[%s]%s\n", out_clock(), n ? "" : " no calls");
	for (size_t i = 0; i < n; i++)
		show(&stats[i]);
	aggregate_clear();
}

static int on_record(void *ctx, void *data, size_t size)
{
	(void)ctx, (void)size;
@bytes|	call_stats_record(data, bytes);
@!bytes|	call_stats_record(data, false);
	return 0;
}

int main(int argc, char **argv)
{
	struct event_loop events = { .record = on_record, .report = report };
	struct target target = TARGET_INIT;
	const struct opt opts[] = {
		OPT_TARGET(&target),
		OPT_FLAG('P', "per-process", &pids, "each process apart"),
		OPT_FLAG('k', "stack", &stacks, "each call stack apart, the longest in all first"),
@bytes|		OPT_FLAG('B', "bytes", &bytes, "histograms of bytes, too"),
		OPT_END
	};
	int status;

	opt_interval(argc, argv, opt_parse(argc, argv, opts, &usage), &events.interval, &events.count);
	target_init(&target);
	fields[PID].key = pids ? "pid" : NULL;
	fields[COMM].key = pids ? "comm" : NULL;
	fields[STACK].key = stacks ? "stack" : NULL;
@bytes|	for (int i = BYTES; !bytes && i < STACK; i++)
@bytes|		fields[i].key = NULL;
	if (stacks)
		target.syms = syms_new();

	skel = @NAME@_bpf__open();
	if (!skel)
		die(errno, "cannot open the BPF programs");
	skel->rodata->aggregate_stacks = stacks;
	skel->rodata->aggregate_pids = pids;
@bytes|	skel->rodata->calls_bytes = bytes;
	aggregate_prepare(skel->obj, target.syms);
	target_prepare(&target, skel->obj);
	if (@NAME@_bpf__load(skel))
		die(errno, "cannot load the BPF programs");
	if (@NAME@_bpf__attach(skel))
		die(errno, "cannot attach to the ends of processes");
	target_attach(&target, classes);

	call_stats_start();
	events.ring = stacks ? skel->maps.events : NULL;
	events.lost = skel->bss->lost;
	status = event_loop_run(&target, &events);
	if (!events.counted_out)
		report(NULL);
	status = target_finish(&target, status);
	event_loop_lost(&events);
	syms_free(target.syms);
	@NAME@_bpf__destroy(skel);
	return status;
}
