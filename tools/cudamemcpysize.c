// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudamemcpysize - show sizes and bandwidth of CUDA copies as histograms */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/cudamemcpysize.h"
#include "abi/device.h"
#include "abi/pinned.h"
#include "api/cuda_fn.h"
#include "base/die.h"
#include "base/util.h"
#include "bpf/bpf_mmap.h"
#include "cli/hist.h"
#include "cli/row.h"
#include "cudamemcpysize/gpu_copies.h"
#include "model/entries.h"
#include "model/launches.h"
#include "session/groups.h"
#include "session/tool.h"
#include "sym/stack.h"
#include "view/columns.h"
#include "view/stack_view.h"
#include "cudamemcpysize.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show the sizes of CUDA copies as histograms by direction, synchronous and asynchronous\n"
		"separately: new copies every interval, and the rest at the end.",
	.examples =
	"  cudamemcpysize -p 181               # one process, until Ctrl-C\n"
	"  cudamemcpysize -P 5                 # each process, every 5 seconds\n"
	"  cudamemcpysize -k --direction HtoD -m 1m -p 181 -d 10 # large copies\n"
	"  cudamemcpysize --host -k -c ./train # pinned or pageable, and where\n"
	"  cudamemcpysize --per-stream -p 181 # each stream of a process separately\n"
	"  cudamemcpysize --device 0,1 -c ./train # copies on two devices\n"
	"  cudamemcpysize --gpu-time -c ./train # with times of asynchronous copies\n"
	"  cudamemcpysize --bandwidth -jc './train 10' # one command, as JSON lines\n"
	"  cudamemcpysize --folded -p 181 -d 10 >bytes # flamegraph.pl --countname bytes\n"
	"  cudamemcpysize --pprof copies.pb.gz -c ./train # for go tool pprof\n",
};

static const struct profile_kind copied = {
	.values = { { "copied", "bytes" }, { "copies", "count" } }, .leaf = "direction",
};

#define DIRECTIONS "HtoD|DtoH|DtoD|HtoH|PtoP|default"

struct copy_row {
	unsigned long long time;	/* of the report: CLOCK_MONOTONIC, ns */
	unsigned long long stream;	/* as in abi/stream.h; 0: not grouped by stream */
	unsigned long long count, failed, bytes;	/* count and bytes: of calls that succeeded */
	unsigned long long replayed;	/* of count: by graphs */
	unsigned long long total, rate;	/* ns; bytes/s; OUT_NONE if asynchronous */
	struct hist_spread spread;	/* of the values in the histogram */
	int pid;			/* 0: all processes; comm likewise */
	unsigned int device, peer;	/* as in abi/device.h; peer: DEVICE_NONE unless between devices */
	bool async, complete;
	const char *container;		/* short id; NULL: none, or not shown */
	const char *comm, *direction, *host;	/* host: memory on its side; NULL: none, or not grouped by it */
	const struct hist *hist;
	const struct stack *stack;
};

OUT_WORD(row_type, "copies");

#define AT(f) offsetof(struct copy_row, f)
static const struct field all_fields[] = {	/* for JSON; print_text() prints text */
	{ "type", NULL, 0, &row_type, 0 },	/* copies of a direction */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },	/* of the first thread seen in a call */
	{ "container", NULL, 0, OUT_STR, AT(container) },
	{ "direction", NULL, 0, OUT_STR, AT(direction) },	/* HtoD, DtoH, DtoD, HtoH, PtoP, default or memset */
	{ "host", NULL, 0, OUT_STR, AT(host) },	/* with --host: memory on the side of the host: pinned, pageable, managed or unknown; null: no such side */
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },	/* of the stream; of PtoP: the source */
	{ "peer", NULL, 0, OUT_DEVICE, AT(peer) },	/* of PtoP: the destination; otherwise null */
	{ "stream", NULL, 0, OUT_STREAM, AT(stream) },	/* with --per-stream: of the copies */
	{ "async", NULL, 0, OUT_BOOL, AT(async) },	/* the function may return before the copy is done */
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },
	{ "count", NULL, 0, OUT_UINT, AT(count) },	/* calls that succeeded, and copies by launches of graphs */
	{ "replayed", NULL, 0, OUT_UINT, AT(replayed) },	/* of count: by launches of graphs that have the copy */
	{ "failed", NULL, 0, OUT_UINT, AT(failed) },	/* calls that failed; other figures exclude them */
	{ "bytes", NULL, 0, OUT_UINT, AT(bytes) },	/* bytes: copied */
	{ "min", NULL, 0, OUT_UINT, AT(spread.min) },	/* by default: bytes: smallest size; null if none succeeded */
	{ "max", NULL, 0, OUT_UINT, AT(spread.max) },	/* by default: bytes: largest size */
	{ "p50", NULL, 0, OUT_UINT, AT(spread.p50) },	/* by default: bytes: median */
	{ "p95", NULL, 0, OUT_UINT, AT(spread.p95) },	/* by default: bytes: 95th percentile */
	{ "p99", NULL, 0, OUT_UINT, AT(spread.p99) },	/* by default: bytes: 99th percentile */
	{ "min_ns", NULL, 0, OUT_UINT, AT(spread.min) },	/* with --time: ns: shortest */
	{ "max_ns", NULL, 0, OUT_UINT, AT(spread.max) },	/* with --time: ns: longest */
	{ "p50_ns", NULL, 0, OUT_UINT, AT(spread.p50) },	/* with --time: ns: median */
	{ "p95_ns", NULL, 0, OUT_UINT, AT(spread.p95) },	/* with --time: ns: 95th percentile */
	{ "p99_ns", NULL, 0, OUT_UINT, AT(spread.p99) },	/* with --time: ns: 99th percentile */
	{ "min_bytes_per_s", NULL, 0, OUT_UINT, AT(spread.min) },	/* with --bandwidth: bytes/s: lowest */
	{ "max_bytes_per_s", NULL, 0, OUT_UINT, AT(spread.max) },	/* with --bandwidth: bytes/s: highest */
	{ "p50_bytes_per_s", NULL, 0, OUT_UINT, AT(spread.p50) },	/* with --bandwidth: bytes/s: median */
	{ "p95_bytes_per_s", NULL, 0, OUT_UINT, AT(spread.p95) },	/* with --bandwidth: bytes/s: 95th percentile */
	{ "p99_bytes_per_s", NULL, 0, OUT_UINT, AT(spread.p99) },	/* with --bandwidth: bytes/s: 99th percentile */
	{ "total_ns", NULL, 0, OUT_UINT, AT(total) },	/* ns: of these calls; null if async, except of pageable memory */
	{ "bytes_per_s", NULL, 0, OUT_UINT, AT(rate) },	/* bytes/s: bytes divided by total_ns */
	{ "hist", NULL, 0, OUT_HIST, AT(hist) },	/* by default: bytes: calls by size */
	{ "hist_ns", NULL, 0, OUT_HIST, AT(hist) },	/* with --time: ns: calls by time */
	{ "hist_bytes_per_s", NULL, 0, OUT_HIST, AT(hist) },	/* with --bandwidth: bytes/s: calls by bandwidth */
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ 0 }
};

/* The keys of each kind of histogram, by enum copy_shown. */
enum { SHOWN_KEYS = 6 };
static const struct { const char *keys[SHOWN_KEYS]; enum out_unit unit; } shown[] = {
	{ { "min", "max", "p50", "p95", "p99", "hist" }, OUT_UNIT_BYTES },
	{ { "min_ns", "max_ns", "p50_ns", "p95_ns", "p99_ns", "hist_ns" }, OUT_UNIT_NS },
	{ { "min_bytes_per_s", "max_bytes_per_s", "p50_bytes_per_s", "p95_bytes_per_s", "p99_bytes_per_s",
	    "hist_bytes_per_s" }, OUT_UNIT_BYTES_PER_S },
};

struct copies {
	struct groups groups;
	bool streams, host;	/* copies are also grouped by these; by the memory on the host's side */
	bool memset, times, bandwidths, gpu_time;
	const char *sample;	/* of GPU time: "RUN/PERIOD" */
	struct gpu_copies gpu;
	int direction;		/* index into DIRECTIONS; -1 = all */
	long min, slower;	/* bytes; ns */
	unsigned classes;
	enum copy_shown shown;	/* in histograms */
	struct devices_seen devices;	/* several: shown in text */
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];	/* for JSON */
	struct launches *replays;	/* launches of graphs; NULL: not counted */
	unsigned long long unknown;	/* of those, launches of graphs that were made before tracing began */
	struct session session;
	struct event_loop events;
	struct cudamemcpysize_bpf *skel;
};

static const char *const host_words[HOST_MEMORY_MAX] = {
	[HOST_PAGEABLE] = "pageable", [HOST_PINNED] = "pinned", [HOST_MANAGED] = "managed", [HOST_UNKNOWN] = "unknown",
};

static const char *leaf_of(const struct copy_row *r, char leaf[32])
{
	snprintf(leaf, 32, "[%s%s%s%s]", r->direction, r->async ? " async" : "", r->host ? " " : "", r->host ?: "");
	return leaf;
}

static void folded(const struct copy_row *r)
{
	char leaf[32];

	folded_line(r->comm, r->stack, leaf_of(r, leaf), r->bytes);
}

static void add_to_profile(struct copies *c, const struct copy_row *r)
{
	char leaf[32];

	if (r->count)
		profile_add(&c->groups.profile, &(struct profile_event){
			r->pid, r->comm, leaf_of(r, leaf), r->stack, r->device, { r->bytes, r->count } });
}

static void hist(const struct copies *c, const struct copy_row *r)
{
	const enum out_unit unit = shown[c->shown].unit;
	const unsigned long long totals[] = { r->bytes, r->total, OUT_NONE };
	const struct hist_totals table = { r->count, totals[c->shown], r->spread };

	hist_table(&table, unit);
	hist_text(r->hist, unit);
}

static void device(const struct copies *c, const struct copy_row *r)
{
	char one[16], other[16];

	if (r->peer != DEVICE_NONE)
		printf(", device %s to %s", device_text(r->device, one), device_text(r->peer, other));
	else if (c->devices.several)
		printf(", device %s", device_text(r->device, one));
}

static void head(const struct copies *c, const struct copy_row *r)
{
	char text[32];

	if (c->groups.pids) {
		process_text(r->pid, r->comm, r->container);
		fputs(", ", stdout);
	}
	printf("%s, %s", r->direction, r->async ? "asynchronous" : "synchronous");
	if (r->host)
		printf(", %s%s", r->host, strcmp(r->host, host_words[HOST_UNKNOWN]) ? "" : " memory");
	device(c, r);
	if (c->streams)
		printf(", %s", stream_text(r->stream, text));
	if (r->count && r->total == OUT_NONE)
		fputs("; time and bandwidth unknown: the calls may return before the copy is done", stdout);
	else if (r->count)
		printf("; %s%s at %s", r->async ? "not asynchronous, as the driver stages it: " : "", out_ns(r->total),
		       out_amount(r->rate, OUT_UNIT_BYTES_PER_S));
	if (r->replayed)
		printf("; %llu by CUDA graphs", r->replayed);
	if (r->failed)
		printf("; %llu call%s failed", r->failed, plural(r->failed));
	putchar('\n');
}

static void print_text(const struct copies *c, const struct copy_row *r)
{
	head(c, r);
	if (r->count)
		hist(c, r);
	if (c->groups.stacks)
		stack_text(r->stack);
	putchar('\n');
}

/* Returns the row of a group. */
static struct copy_row copy_row(struct copies *c, const struct aggregate *g)
{
	bool async = g->key.key & COPY_ASYNC, peers = (g->key.key & COPY_WHAT) == CUDA_PTOP;
	unsigned host = g->key.key >> COPY_HOST_SHIFT;
	bool timed = !async || host == HOST_PAGEABLE;

	return (struct copy_row){
		.time = c->groups.now, .pid = g->key.pid, .comm = g->comm, .async = async,
		.complete = process_is_complete(&c->session.processes, g->key.pid),
		.container = c->groups.pids ? process_container(&c->session.processes, g->key.pid) : NULL,
		.direction = cuda_direction_name(g->key.key & COPY_WHAT) ?: "memset",
		.stream = g->key.stream, .device = g->key.device, .peer = peers ? g->key.peer : DEVICE_NONE,
		.count = g->count, .replayed = g->replayed, .failed = g->failed, .bytes = g->sum,
		.host = host < HOST_MEMORY_MAX ? host_words[host] : NULL,
		.total = timed ? g->ns : OUT_NONE,
		.rate = !timed || !g->ns ? OUT_NONE : (unsigned long long)(g->sum * 1e9 / g->ns),
		.spread = hist_spread(&g->hist, g->least, g->most), .hist = &g->hist, .stack = g->key.stack,
	};
}

static void print(struct copies *c, const struct aggregate *g)
{
	struct copy_row row = copy_row(c, g);

	add_to_profile(c, &row);
	if (c->groups.folded)
		folded(&row);
	else if (out_is_json())
		out_row(c->fields, &row);
	else
		print_text(c, &row);
}

/* Adds the copies that launches of a graph have done. */
static void add_replay(void *ctx, const struct counter *graph)
{
	struct copies *c = ctx;
	const struct graph_content *content = graph->graph.content;
	struct aggregate_replays r = {
		.key = { .pid = c->groups.pids ? graph->key.pid : 0, .device = graph->key.device, .stream = graph->key.stream },
		.stack = graph->stack, .pid = graph->key.pid, .comm = graph->program->comm,
	};

	if (c->slower)		/* they have no time */
		return;
	c->unknown += graph->graph.known ? 0 : graph->last.launches;
	for (size_t i = 0; content && i < content->n; i++) {
		const struct graph_work *w = &content->all[i];
		const bool set = w->kind == NODE_SET, copy = w->kind == NODE_COPY;

		if (!(copy || (set && c->memset)) || (copy && c->direction >= 0 && (int)w->direction != c->direction + 1) ||
		    w->bytes < (unsigned long long)c->min)
			continue;
		r.key.key = (set ? COPY_SET : w->direction) | COPY_ASYNC;
		r.value = w->bytes;
		r.n = w->count * graph->last.launches;
		aggregate_add_replays(&c->groups.aggregates, &r);
	}
}

/* Prints the copies since the last report. */
static void report(void *ctx)
{
	struct copies *c = ctx;
	struct groups *g = &c->groups;

	if (c->replays) {
		launches_count(c->replays);
		launches_each_graph(c->replays, add_replay, c);
	}
	groups_begin(g, g->stacks, NULL);
	if (c->gpu_time)
		gpu_copies_report(&c->gpu, &c->session.processes, g->now);
	for (size_t i = 0; i < g->n; i++)
		devices_see(&c->devices, g->all[i]->key.device);
	for (size_t i = 0; i < g->n; i++)
		print(c, g->all[i]);
	groups_end(g);
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct record *r = data;
	struct copies *c = ctx;

	if (c->replays && launch_is_record(r))
		launches_record(c->replays, data, size);
	else
		aggregate_record(&c->groups.aggregates, data, size);
	return 0;
}

static bool tick(void *ctx)
{
	struct copies *c = ctx;

	if (c->replays)
		launches_tick(c->replays);
	if (c->gpu_time)
		gpu_time_tick(&c->gpu.time);
	return true;
}

static void choose_fields(struct copies *c)
{
	columns_of_groups(c->fields, all_fields, c->groups.pids, c->groups.stacks);
	if (!c->streams)
		columns_remove(c->fields, "stream");
	if (!c->host)
		columns_remove(c->fields, "host");
	for (int i = 0; i < SHOWN_KEYS * (int)(sizeof(shown) / sizeof(*shown)); i++)
		if (i / SHOWN_KEYS != (int)c->shown)
			columns_remove(c->fields, shown[i / SHOWN_KEYS].keys[i % SHOWN_KEYS]);
}

static void check(void *ctx)
{
	struct copies *c = ctx;

	if (c->times && c->bandwidths)
		usage_error("--time and --bandwidth are mutually exclusive");
	if (c->memset && c->direction >= 0)
		usage_error("--memset and --direction are mutually exclusive");
	if (c->groups.folded && (c->times || c->bandwidths))
		usage_error("--folded shows no histograms; it cannot be combined with --time or --bandwidth");
	if (c->groups.profile.path && (c->times || c->bandwidths))
		usage_error("--pprof cannot be combined with --time or --bandwidth");
	if (c->sample && !c->gpu_time)
		usage_error("--sample requires --gpu-time");
	if (c->gpu_time && (c->groups.stacks || c->groups.folded || c->streams || c->min || c->slower))
		usage_error("--gpu-time cannot be combined with --stacks, --folded, --pprof, --per-stream, --min or --slower");
	if (c->sample)
		gpu_time_sample(&c->gpu.time, c->sample);
	groups_check(&c->groups);
	c->groups.pids |= c->streams;
	c->devices.several = c->session.devices;
	c->shown = c->times ? COPY_TIMES : c->bandwidths ? COPY_BANDWIDTHS : COPY_SIZES;
	c->classes = 1 << CUDA_COPY | (c->memset ? 1 << CUDA_SET : 0) | (c->host ? 1 << CUDA_ALLOC | 1 << CUDA_FREE : 0);
	/* copies of graphs are asynchronous: they have no times, and those of their launches are not theirs */
	if (c->shown == COPY_SIZES)
		c->classes |= CUDA_REPLAYS | CUDA_GRAPH_CLASSES;
	c->session.probes.return_classes = ~(1u << CUDA_EVENT);
}

static void *open_skel(void *ctx)
{
	struct copies *c = ctx;

	choose_fields(c);
	c->skel = cudamemcpysize_bpf__open();
	if (!c->skel)
		return NULL;
	c->skel->rodata->aggregate_streams = c->streams;
	c->skel->rodata->copy_shown = c->shown;
	c->skel->rodata->copy_host = c->host;
	c->skel->rodata->copy_direction = c->direction + 1;
	c->skel->rodata->copy_min = c->min;
	c->skel->rodata->copy_slower = c->slower;
	if (c->classes & CUDA_REPLAYS)
		bpf_mmap_per_cpu(c->skel->maps.quick, LAUNCH_SLOTS);
	else
		bpf_map__set_max_entries(c->skel->maps.quick, 1);
	c->groups.aggregates.other_records = c->classes & CUDA_REPLAYS;
	GROUPS_OPEN(&c->groups, c->skel);
	return c->skel;
}

/* As for struct captures: what a program has pinned ends with it. */
static void forget_pinned(void *ctx, const struct process_event *e)
{
	struct copies *c = ctx;
	struct pinned_shares *shares = &c->skel->data_pinned->pinned_shares;
	const size_t share = offsetof(struct pinned_value, share);

	entries_drop_program(c->skel->maps.pinned_blocks, &shares->blocks, share, e->program);
	entries_drop_program(c->skel->maps.pinned_ranges, &shares->ranges, share, e->program);
}

static void open_gpu_time(struct copies *c)
{
	struct gpu_time *t = &c->gpu.time;

	c->gpu.pids = c->groups.pids;
	c->gpu.memset = c->memset;
	c->gpu.direction = c->direction + 1;
	c->gpu.devices = c->session.devices;
	t->want = GPUTIME_COPIES;
	gpu_time_open(t, &c->session.processes);
	process_on_end(&c->session.processes, gpu_time_ended, t);
	if (c->session.command)
		gpu_time_begin(t);
}

static void loaded(void *ctx)
{
	struct copies *c = ctx;

	if (c->gpu_time)
		open_gpu_time(c);
	if (c->host)
		process_on_end(&c->session.processes, forget_pinned, c);
	if (!(c->classes & CUDA_REPLAYS))
		return;
	c->replays = launches_new(c->session.syms, c->skel->maps.counts, c->skel->maps.quick, &c->skel->bss->counts_shares, false);
	c->replays->graphs.whole = session_is_alone(&c->session);
	c->replays->captures = (struct captures)CAPTURES_OF(c->skel);
	process_on_end(&c->session.processes, launches_ended, c->replays);
}

static void start(void *ctx)
{
	struct copies *c = ctx;

	GROUPS_START(&c->groups, c->skel);
	c->groups.inflight.devices = &c->devices;
}

static int stop(void *ctx, int sig)
{
	struct copies *c = ctx;

	if (c->events.counted_out)
		return sig;
	if (c->gpu_time)
		gpu_time_stop(&c->gpu.time);
	report(c);
	return sig;
}

static int finish(void *ctx, int status)
{
	struct copies *c = ctx;

	if (c->gpu_time)
		gpu_time_close(&c->gpu.time);
	if (c->unknown)
		warning(0, "%llu launches of CUDA graphs that were made before tracing began: their copies are not counted", c->unknown);
	if (c->replays && c->replays->lost_nodes)
		warning(0, "%llu nodes of graphs not followed: " GRAPHS_LOST, c->replays->lost_nodes);
	if (c->replays)
		launches_free(c->replays);
	return groups_close(&c->groups, status);
}

int main(int argc, char **argv)
{
	struct copies copies = {
		.groups = GROUPS_INIT(&copies.session, &copied, "copies"), .direction = -1, .session = SESSION_INIT,
		.events = { .record = on_record, .report = report, .tick = tick, .ctx = &copies },
	};
	const struct opt opts[] = {
		OPT_TARGET(&copies.session),
		OPT_DEVICE(&copies.session),
		OPT_FLAG('P', "per-process", &copies.groups.pids, "one group per process"),
		OPT_FLAG(0, "host", &copies.host, "one group per kind of memory on the host: pinned, pageable, managed"),
		OPT_FLAG(0, "per-stream", &copies.streams, "one group per stream of a process"),
		OPT_GROUPS(&copies.groups, &copies.session, ", most bytes first", "bytes"),
		OPT_CHOICE(0, "direction", DIRECTIONS, &copies.direction, "count only copies in this direction"),
		OPT_SIZE('m', "min", "SIZE", &copies.min, "count only copies of at least SIZE bytes"),
		OPT_TIME(0, "slower", "US", &copies.slower, VALUE_US, 0, "count only calls that took at least US microseconds"),
		OPT_FLAG(0, "gpu-time", &copies.gpu_time, "show how long copies take on the GPU, by CUPTI"),
		OPT_STR(0, "sample", "RUN/PERIOD", &copies.sample, "measure GPU time for RUN of each PERIOD: 100ms/1s"),
		OPT_FLAG(0, "memset", &copies.memset, "include memset"),
		OPT_FLAG(0, "time", &copies.times, "show histograms of times; synchronous copies only"),
		OPT_FLAG(0, "bandwidth", &copies.bandwidths, "show histograms of bandwidths; synchronous copies only"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, TOOL_GROUPS(&copies.groups), .events = &copies.events,
		.classes = &copies.classes, .devices = true, .ctx = &copies, .check = check, .open = open_skel,
		.loaded = loaded, .start = start, .stop = stop, .close = finish,
	};

	return tool_run(&tool, argc, argv);
}
