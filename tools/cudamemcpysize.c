// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudamemcpysize - show sizes and bandwidth of CUDA copies as histograms */
#include <errno.h>
#include <stdio.h>
#include "base/clock.h"
#include "abi/cudamemcpysize.h"
#include "api/cuda_fn.h"
#include "base/die.h"
#include "base/escape.h"
#include "session/event_loop.h"
#include "model/aggregate.h"
#include "cli/hist.h"
#include "cli/out.h"
#include "sym/syms.h"
#include "session/target.h"
#include "cudamemcpysize.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show the sizes of CUDA copies as histograms by direction, synchronous and asynchronous\n"
		"apart: every interval what is new in it, and at the end.",
	.examples =
	"  cudamemcpysize -p 181               # one process, until Ctrl-C\n"
	"  cudamemcpysize -P 5                 # all processes, each apart, every 5 seconds\n"
	"  cudamemcpysize -k --direction HtoD -m 1m -p 181 -d 10 # where are the large ones\n"
	"  cudamemcpysize --bandwidth -jc './train 10' # one command, as JSON lines\n",
};

#define DIRECTIONS "HtoD|DtoH|DtoD|HtoH|PtoP|default"

struct row {
	unsigned long long time, count, failed, bytes, min, max, total, rate;
	int pid;
	bool async;
	const char *comm, *direction;
	const unsigned long long *slots;
	const struct stack *stack;
};

#define AT(f) offsetof(struct row, f)
enum { PID = 1, COMM, HIST = 12, STACK };
static struct field fields[] = {	/* the text is show()'s */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	[PID] = { "pid", NULL, 0, OUT_INT, AT(pid) },
	[COMM] = { "comm", NULL, 0, OUT_STR, AT(comm) },
	{ "direction", NULL, 0, OUT_STR, AT(direction) },
	{ "async", NULL, 0, OUT_BOOL, AT(async) },
	{ "count", NULL, 0, OUT_UINT, AT(count) },
	{ "failed", NULL, 0, OUT_UINT, AT(failed) },
	{ "bytes", NULL, 0, OUT_UINT, AT(bytes) },
	{ "min", NULL, 0, OUT_UINT, AT(min) },
	{ "max", NULL, 0, OUT_UINT, AT(max) },
	{ "total_ns", NULL, 0, OUT_UINT, AT(total) },
	{ "bytes_per_s", NULL, 0, OUT_UINT, AT(rate) },
	[HIST] = { "hist", NULL, 0, OUT_HIST, AT(slots) },
	[STACK] = { "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ 0 }
};

/* by enum copy_shown */
static const struct { const char *key, *unit; int shift; } shown[] = {
	{ "hist", "bytes", 0 }, { "hist_ns", "nsecs", 0 },
	{ "hist_bytes_per_s", "MiB/s", 20 },
};

static struct {
	bool memset, pids, stacks, times, bandwidths;
	int direction;		/* index into DIRECTIONS; -1 = all */
	long min;
	enum copy_shown what;
	struct cudamemcpysize_bpf *skel;
} copy = { .direction = -1 };

static void show(const struct row *r)
{
	if (out_is_json()) {
		out_row(fields, r);
		return;
	}
	if (copy.pids) {
		printf("pid %d (", r->pid);
		escape_text(stdout, r->comm);
		printf("), ");
	}
	printf("%s, %s: %llu call%s", r->direction, r->async ? "asynchronous" : "synchronous",
	       r->count, r->count == 1 ? "" : "s");
	if (r->count)
		printf(", %s, %llu", out_bytes(r->bytes), r->min);
	if (r->count && r->min != r->max)
		printf(" to %llu", r->max);
	if (r->count)
		fputs(" bytes each", stdout);
	if (r->count && !r->async)
		printf(", in %s at %.1f MiB/s", out_ns(r->total), r->rate / 1048576.0);
	if (r->failed)
		printf("; %llu more failed", r->failed);
	putchar('\n');
	hist_text(r->slots, shown[copy.what].unit, shown[copy.what].shift);
	if (copy.stacks)
		stack_text(r->stack);
	putchar('\n');
}

static void report(void *ctx)
{
	struct aggregate **list;
	size_t n;

	(void)ctx;
	aggregate_collect(copy.skel->maps.aggregates, aggregate_flip(&copy.skel->bss->aggregate_epoch));
	list = aggregate_sorted(copy.stacks, &n);
	if (!out_is_json())
		printf("[%s]%s\n", out_clock(), n ? "" : " no copies");
	for (size_t i = 0; i < n; i++) {
		const struct aggregate *g = list[i];
		bool async = g->key.key & COPY_ASYNC;
		struct row r = {
			.time = clock_ns(), .pid = g->key.pid, .comm = g->comm, .async = async,
			.direction = cuda_direction_name(g->key.key & COPY_WHAT) ?: "memset",
			.count = g->count, .failed = g->failed, .bytes = g->sum,
			.min = g->count ? g->least : OUT_NONE, .max = g->count ? g->most : OUT_NONE,
			.total = async ? OUT_NONE : g->ns,
			.rate = async || !g->ns ? OUT_NONE : g->sum * 1e9 / g->ns,
			.slots = g->slots, .stack = g->key.stack,
		};

		show(&r);
	}
	free(list);
	aggregate_clear();
}

static int on_record(void *ctx, void *data, size_t size)
{
	(void)ctx, (void)size;
	aggregate_record(data);
	return 0;
}

int main(int argc, char **argv)
{
	struct event_loop events = { .record = on_record, .report = report };
	struct target target = TARGET_INIT;
	const struct opt opts[] = {
		OPT_TARGET(&target),
		OPT_FLAG('P', "per-process", &copy.pids, "each process apart"),
		OPT_FLAG('k', "stack", &copy.stacks, "each call stack apart, the one with most bytes first"),
		OPT_CHOICE(0, "direction", DIRECTIONS, &copy.direction, "only copies in this direction"),
		OPT_SIZE('m', "min", "SIZE", &copy.min, "only copies of at least SIZE"),
		OPT_FLAG(0, "memset", &copy.memset, "memsets too"),
		OPT_FLAG(0, "time", &copy.times, "synchronous copies only: histograms of their time"),
		OPT_FLAG(0, "bandwidth", &copy.bandwidths, "the same of their bandwidth"),
		OPT_END
	};
	int status;

	opt_interval(argc, argv, opt_parse(argc, argv, opts, &usage), &events.interval, &events.count);
	if (copy.times && copy.bandwidths)
		usage_error("--time and --bandwidth exclude each other");
	if (copy.memset && copy.direction >= 0)
		usage_error("--memset and --direction exclude each other");
	copy.what = copy.times ? COPY_TIMES : copy.bandwidths ? COPY_BANDWIDTHS : COPY_SIZES;
	target_init(&target);
	fields[HIST].key = shown[copy.what].key;
	fields[PID].key = copy.pids ? "pid" : NULL;
	fields[COMM].key = copy.pids ? "comm" : NULL;
	fields[STACK].key = copy.stacks ? "stack" : NULL;
	if (copy.stacks)
		target.syms = syms_new();

	copy.skel = cudamemcpysize_bpf__open();
	if (!copy.skel)
		die(errno, "cannot open the BPF programs");
	copy.skel->rodata->aggregate_stacks = copy.stacks;
	copy.skel->rodata->aggregate_pids = copy.pids;
	copy.skel->rodata->copy_shown = copy.what;
	copy.skel->rodata->copy_direction = copy.direction + 1;
	copy.skel->rodata->copy_min = copy.min;
	aggregate_prepare(copy.skel->obj, target.syms);
	target_prepare(&target, copy.skel->obj);
	if (cudamemcpysize_bpf__load(copy.skel))
		die(errno, "cannot load the BPF programs");
	if (cudamemcpysize_bpf__attach(copy.skel))
		die(errno, "cannot attach to the ends of processes");
	target_attach(&target, 1 << CUDA_COPY | (copy.memset ? 1 << CUDA_SET : 0));

	events.ring = copy.stacks ? copy.skel->maps.events : NULL;
	events.lost = copy.skel->bss->lost;
	status = event_loop_run(&target, &events);
	if (!events.counted_out)
		report(NULL);
	status = target_finish(&target, status);
	event_loop_lost(&events);
	syms_free(target.syms);
	cudamemcpysize_bpf__destroy(copy.skel);
	return status;
}
