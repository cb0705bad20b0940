// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudamemcpysize - show sizes and bandwidth of CUDA copies as histograms */
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "abi/cudamemcpysize.h"
#include "api/cuda_fn.h"
#include "base/escape.h"
#include "base/plural.h"
#include "model/aggregate.h"
#include "model/running.h"
#include "cli/hist.h"
#include "cli/out.h"
#include "cli/row.h"
#include "sym/stack.h"
#include "session/tool.h"
#include "view/columns.h"
#include "view/device_field.h"
#include "view/folded.h"
#include "view/running_view.h"
#include "view/stack_view.h"
#include "view/stream_field.h"
#include "cudamemcpysize.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show the sizes of CUDA copies as histograms by direction, synchronous and asynchronous\n"
		"separately: what is new every interval, and the rest at the end.",
	.examples =
	"  cudamemcpysize -p 181               # one process, until Ctrl-C\n"
	"  cudamemcpysize -P 5                 # all processes, separately, every 5 seconds\n"
	"  cudamemcpysize -k --direction HtoD -m 1m -p 181 -d 10 # where large copies are made\n"
	"  cudamemcpysize --per-stream -p 181 # each stream of a process separately\n"
	"  cudamemcpysize --device 0,1 -c ./train # copies on two devices, and between them and others\n"
	"  cudamemcpysize --bandwidth -jc './train 10' # one command, as JSON lines\n"
	"  cudamemcpysize --folded -p 181 -d 10 >bytes # for flamegraph.pl --countname bytes\n",
};

#define DIRECTIONS "HtoD|DtoH|DtoD|HtoH|PtoP|default"

struct copy_row {
	unsigned long long time, stream, count, failed, bytes, min, max, total, rate, p50, p95, p99;
	int pid;
	unsigned int device, peer;
	bool async, complete;
	const char *comm, *container, *direction;
	const unsigned long long *slots;
	const struct stack *stack;
};

OUT_WORD(row_type, "copies");

#define AT(f) offsetof(struct copy_row, f)
static const struct field all_fields[] = {	/* for JSON; show() prints text */
	{ "type", NULL, 0, &row_type, 0 },
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },
	{ "container", NULL, 0, OUT_STR, AT(container) },
	{ "direction", NULL, 0, OUT_STR, AT(direction) },
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },
	{ "peer", NULL, 0, OUT_DEVICE, AT(peer) },
	{ "stream", NULL, 0, OUT_STREAM, AT(stream) },
	{ "async", NULL, 0, OUT_BOOL, AT(async) },
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },
	{ "count", NULL, 0, OUT_UINT, AT(count) },
	{ "failed", NULL, 0, OUT_UINT, AT(failed) },
	{ "bytes", NULL, 0, OUT_UINT, AT(bytes) },
	{ "min", NULL, 0, OUT_UINT, AT(min) },
	{ "max", NULL, 0, OUT_UINT, AT(max) },
	{ "p50", NULL, 0, OUT_UINT, AT(p50) },
	{ "p95", NULL, 0, OUT_UINT, AT(p95) },
	{ "p99", NULL, 0, OUT_UINT, AT(p99) },
	{ "total_ns", NULL, 0, OUT_UINT, AT(total) },
	{ "bytes_per_s", NULL, 0, OUT_UINT, AT(rate) },
	{ "hist", NULL, 0, OUT_HIST, AT(slots) },
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ 0 }
};

/* indexed by enum copy_shown */
static const struct { const char *hist, *p50, *p95, *p99; enum out_unit unit; } shown[] = {
	{ "hist", "p50", "p95", "p99", OUT_UNIT_BYTES },
	{ "hist_ns", "p50_ns", "p95_ns", "p99_ns", OUT_UNIT_NS },
	{ "hist_bytes_per_s", "p50_bytes_per_s", "p95_bytes_per_s", "p99_bytes_per_s", OUT_UNIT_BYTES_PER_S },
};

struct copies {
	bool memset, pids, streams, stacks, times, bandwidths, folded;
	int direction;		/* index into DIRECTIONS; -1 = all */
	long min;
	enum copy_shown what;
	unsigned classes;
	struct aggregates aggregates;
	struct running running;
	struct devices_seen devices;
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];
	struct target target;
	struct event_loop events;
	struct cudamemcpysize_bpf *skel;
};

static void show_folded(const struct copy_row *r)
{
	char leaf[32];

	snprintf(leaf, sizeof(leaf), "[%s%s]", r->direction, r->async ? " async" : "");
	folded_line(r->comm, r->stack, leaf, r->bytes);
}

/* The smallest and largest are known of the sizes alone. */
static void show_hist(enum copy_shown what, const struct copy_row *r)
{
	const unsigned long long totals[] = { r->bytes, r->total, OUT_NONE };
	bool sizes = what == COPY_SIZES;
	const struct hist_totals table = {
		.count = r->count, .total = totals[what], .min = sizes ? r->min : OUT_NONE,
		.p50 = r->p50, .p95 = r->p95, .p99 = r->p99, .max = sizes ? r->max : OUT_NONE,
	};

	hist_table(&table, shown[what].unit);
	hist_text(r->slots, shown[what].unit);
}

static void show_device(const struct copies *c, const struct copy_row *r)
{
	char one[16], other[16];

	if (r->peer != DEVICE_NONE)
		printf(", device %s to %s", device_text(r->device, one), device_text(r->peer, other));
	else if (c->devices.several)
		printf(", device %s", device_text(r->device, one));
}

static void show(const struct copies *c, const struct copy_row *r)
{
	char text[32];

	if (c->folded) {
		show_folded(r);
		return;
	}
	if (out_is_json()) {
		out_row(c->fields, r);
		return;
	}
	if (c->pids) {
		printf("pid %d (", r->pid);
		escape_text(stdout, r->comm);
		printf(r->container ? ") in container %s, " : "), ", r->container);
	}
	printf("%s, %s", r->direction, r->async ? "asynchronous" : "synchronous");
	show_device(c, r);
	if (c->streams)
		printf(", %s", stream_text(r->stream, text));
	if (r->count && r->async)
		fputs("; time and bandwidth unknown: the calls return before the copy is done", stdout);
	else if (r->count)
		printf("; %s at %s", out_ns(r->total), out_amount(r->rate, OUT_UNIT_BYTES_PER_S));
	if (r->failed)
		printf("; %llu call%s failed", r->failed, plural(r->failed));
	putchar('\n');
	if (r->count)
		show_hist(c->what, r);
	if (c->stacks)
		stack_text(r->stack);
	putchar('\n');
}

static void set_percentiles(struct copy_row *r, const struct aggregate *g, bool sizes)
{
	unsigned long long min = sizes ? g->least : 0, max = sizes ? g->most : OUT_NONE;

	r->p50 = g->count ? hist_percentile(g->slots, 50, min, max) : OUT_NONE;
	r->p95 = g->count ? hist_percentile(g->slots, 95, min, max) : OUT_NONE;
	r->p99 = g->count ? hist_percentile(g->slots, 99, min, max) : OUT_NONE;
}

static void head(const struct copies *c, size_t n)
{
	if (out_is_json() || c->folded)
		return;
	printf("[%s]%s", out_clock(), n ? "" : c->running.n ? " no copies have ended" : " no copies");
	if (c->target.early.processes)
		early_text(&c->target.early, "copies");
	putchar('\n');
}

static void report(void *ctx)
{
	struct copies *c = ctx;
	struct aggregate **list;
	size_t n;

	aggregate_collect(&c->aggregates, c->skel->maps.aggregates,
			  aggregate_flip(&c->skel->bss->aggregate_epoch));
	list = aggregate_sorted(&c->aggregates, c->stacks, &n);
	early_tidy(&c->target.early);
	running_collect(&c->running);
	head(c, n);
	for (size_t i = 0; i < n; i++)
		devices_see(&c->devices, list[i]->key.device);
	for (size_t i = 0; i < n; i++) {
		const struct aggregate *g = list[i];
		bool async = g->key.key & COPY_ASYNC, peers = (g->key.key & COPY_WHAT) == CUDA_PTOP;
		struct copy_row r = {
			.time = clock_ns(), .pid = g->key.pid, .comm = g->comm, .async = async,
			.complete = early_complete(&c->target.early, g->key.pid),
			.container = c->pids ? containers_of(&c->target.containers, g->key.pid) : NULL,
			.direction = cuda_direction_name(g->key.key & COPY_WHAT) ?: "memset",
			.stream = g->key.stream,
			.device = g->key.device, .peer = peers ? g->key.peer : DEVICE_NONE,
			.count = g->count, .failed = g->failed, .bytes = g->sum,
			.min = g->count ? g->least : OUT_NONE, .max = g->count ? g->most : OUT_NONE,
			.total = async ? OUT_NONE : g->ns,
			.rate = async || !g->ns ? OUT_NONE : g->sum * 1e9 / g->ns,
			.slots = g->slots, .stack = g->key.stack,
		};

		set_percentiles(&r, g, c->what == COPY_SIZES);
		show(c, &r);
	}
	free(list);
	if (!c->folded)
		running_view(&c->running);
	aggregate_clear(&c->aggregates);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct copies *c = ctx;

	(void)size;
	aggregate_record(&c->aggregates, data);
	return 0;
}

static void check(void *ctx)
{
	struct copies *c = ctx;

	if (c->times && c->bandwidths)
		usage_error("--time and --bandwidth are mutually exclusive");
	if (c->memset && c->direction >= 0)
		usage_error("--memset and --direction are mutually exclusive");
	if (c->folded && (c->times || c->bandwidths))
		usage_error("--folded shows no histograms; it cannot be combined with --time or --bandwidth");
	c->pids |= c->folded || c->target.json || c->streams;
	c->devices.several = c->target.devices;
	c->what = c->times ? COPY_TIMES : c->bandwidths ? COPY_BANDWIDTHS : COPY_SIZES;
	c->classes = 1 << CUDA_COPY | (c->memset ? 1 << CUDA_SET : 0);
}

static void *open_skel(void *ctx)
{
	struct copies *c = ctx;

	columns_of_groups(c->fields, all_fields, c->pids, c->stacks);
	if (!c->streams)
		columns_remove(c->fields, "stream");
	columns_rename(c->fields, "hist", shown[c->what].hist);
	columns_rename(c->fields, "p50", shown[c->what].p50);
	columns_rename(c->fields, "p95", shown[c->what].p95);
	columns_rename(c->fields, "p99", shown[c->what].p99);
	c->skel = cudamemcpysize_bpf__open();
	if (!c->skel)
		return NULL;
	c->skel->rodata->aggregate_stacks = c->stacks;
	c->skel->rodata->aggregate_pids = c->pids;
	c->skel->rodata->aggregate_streams = c->streams;
	c->skel->rodata->copy_shown = c->what;
	c->skel->rodata->copy_direction = c->direction + 1;
	c->skel->rodata->copy_min = c->min;
	aggregate_prepare(&c->aggregates, c->skel->obj, c->target.syms);
	return c->skel;
}

static void start(void *ctx)
{
	struct copies *c = ctx;

	c->running = (struct running)RUNNING_OF(c->skel, &c->target, c->stacks);
	c->running.devices = &c->devices;
	running_start(&c->running);
}

static int finish(void *ctx, int status)
{
	struct copies *c = ctx;

	running_free(&c->running);
	return status;
}

int main(int argc, char **argv)
{
	struct copies copies = {
		.direction = -1, .target = TARGET_INIT,
		.events = { .record = on_record, .report = report, .ctx = &copies },
	};
	int status;
	const struct opt opts[] = {
		OPT_TARGET(&copies.target),
		OPT_DEVICE(&copies.target),
		OPT_FLAG('P', "per-process", &copies.pids, "one group per process"),
		OPT_FLAG(0, "per-stream", &copies.streams, "one group per stream of a process"),
		OPT_FLAG('k', "stacks", &copies.stacks, "one group per call stack, most bytes first"),
		OPT_STACKS(&copies.target),
		OPT_FLAG(0, "folded", &copies.folded, "print one line per stack, for flame graphs: bytes"),
		OPT_CHOICE(0, "direction", DIRECTIONS, &copies.direction, "count only copies in this direction"),
		OPT_SIZE('m', "min", "SIZE", &copies.min, "count only copies of at least SIZE bytes"),
		OPT_FLAG(0, "memset", &copies.memset, "include memset"),
		OPT_FLAG(0, "time", &copies.times, "show histograms of times; synchronous copies only"),
		OPT_FLAG(0, "bandwidth", &copies.bandwidths, "show histograms of bandwidths; synchronous copies only"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .interval = true, .target = &copies.target,
		.events = &copies.events, .stacks = &copies.stacks, .folded = &copies.folded,
		.classes = &copies.classes, .devices = true, .ctx = &copies, .check = check, .open = open_skel,
		.start = start, .close = finish,
	};

	status = tool_run(&tool, argc, argv);
	aggregate_free(&copies.aggregates);
	return status;
}
