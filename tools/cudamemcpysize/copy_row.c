/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "abi/device.h"
#include "api/cuda_fn.h"
#include "cli/row.h"
#include "cudamemcpysize/copy_row.h"
#include "model/aggregate.h"
#include "view/columns.h"
#include "view/stack_view.h"

OUT_WORD(row_type, "copies");

#define AT(f) offsetof(struct copy_row, f)
static const struct field fields[] = {	/* for JSON; copy_view.c prints text */
	{ "type", NULL, 0, &row_type, 0 },	/* copies of a direction */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },
	{ "container", NULL, 0, OUT_STR, AT(container) },
	{ "direction", NULL, 0, OUT_STR, AT(direction) },	/* HtoD, DtoH, DtoD, HtoH, PtoP, default or memset */
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },	/* of the stream, or the source */
	{ "peer", NULL, 0, OUT_DEVICE, AT(peer) },	/* of PtoP: the destination */
	{ "stream", NULL, 0, OUT_STREAM, AT(stream) },	/* with --per-stream: of the copies */
	{ "async", NULL, 0, OUT_BOOL, AT(async) },	/* whether calls may return before the copy ended */
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },
	{ "count", NULL, 0, OUT_UINT, AT(count) },	/* calls that succeeded */
	{ "failed", NULL, 0, OUT_UINT, AT(failed) },	/* calls that failed; nothing else counts them */
	{ "bytes", NULL, 0, OUT_UINT, AT(bytes) },	/* bytes: copied */
	{ "min", NULL, 0, OUT_UINT, AT(spread.min) },	/* by default: bytes: smallest size */
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
	{ "total_ns", NULL, 0, OUT_UINT, AT(total) },	/* ns: of these calls; null if async */
	{ "bytes_per_s", NULL, 0, OUT_UINT, AT(rate) },	/* bytes/s: null if async */
	{ "hist", NULL, 0, OUT_HIST, AT(slots) },	/* by default: bytes: calls by size */
	{ "hist_ns", NULL, 0, OUT_HIST, AT(slots) },	/* with --time: ns: calls by time */
	{ "hist_bytes_per_s", NULL, 0, OUT_HIST, AT(slots) },	/* with --bandwidth: bytes/s: calls by bandwidth */
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ 0 }
};

_Static_assert(sizeof(fields) == sizeof(((struct copy_view *)0)->fields), "COPY_FIELDS");

/* The keys of what the histogram shows; indexed by enum copy_shown. */
enum { SHOWN_KEYS = 6 };
static const struct { const char *keys[SHOWN_KEYS]; enum out_unit unit; } shown[] = {
	{ { "min", "max", "p50", "p95", "p99", "hist" }, OUT_UNIT_BYTES },
	{ { "min_ns", "max_ns", "p50_ns", "p95_ns", "p99_ns", "hist_ns" }, OUT_UNIT_NS },
	{ { "min_bytes_per_s", "max_bytes_per_s", "p50_bytes_per_s", "p95_bytes_per_s", "p99_bytes_per_s",
	    "hist_bytes_per_s" }, OUT_UNIT_BYTES_PER_S },
};

void copy_row_init(struct copy_view *v)
{
	columns_of_groups(v->fields, fields, v->pids, v->stacks);
	if (!v->streams)
		columns_remove(v->fields, "stream");
	for (int i = 0; i < SHOWN_KEYS * (int)(sizeof(shown) / sizeof(*shown)); i++)
		if (i / SHOWN_KEYS != (int)v->shown)
			columns_remove(v->fields, shown[i / SHOWN_KEYS].keys[i % SHOWN_KEYS]);
}

enum out_unit copy_row_unit(const struct copy_view *v)
{
	return shown[v->shown].unit;
}

struct copy_row copy_row(const struct aggregate *g, unsigned long long time)
{
	bool async = g->key.key & COPY_ASYNC, peers = (g->key.key & COPY_WHAT) == CUDA_PTOP;

	return (struct copy_row){
		.time = time, .pid = g->key.pid, .comm = g->comm, .async = async,
		.direction = cuda_direction_name(g->key.key & COPY_WHAT) ?: "memset",
		.stream = g->key.stream, .device = g->key.device, .peer = peers ? g->key.peer : DEVICE_NONE,
		.count = g->count, .failed = g->failed, .bytes = g->sum,
		.total = async ? OUT_NONE : g->ns,
		.rate = async || !g->ns ? OUT_NONE : (unsigned long long)(g->sum * 1e9 / g->ns),
		.spread = hist_spread(g->slots, g->least, g->most), .slots = g->slots, .stack = g->key.stack,
	};
}
