/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "abi/cudasynclatency.h"
#include "cli/row.h"
#include "cudasynclatency/wait_row.h"
#include "view/columns.h"
#include "view/stack_view.h"

OUT_WORD(row_type, "waits");

#define AT(f) offsetof(struct wait_row, f)
static const struct field fields[] = {	/* for JSON; wait_view.c prints text */
	{ "type", NULL, 0, &row_type, 0 },	/* waits in a function */
	{ "time", NULL, 0, OUT_TIME, AT(calls.time) },
	{ "pid", NULL, 0, OUT_INT, AT(calls.pid) },
	{ "comm", NULL, 0, OUT_STR, AT(calls.comm) },
	{ "container", NULL, 0, OUT_STR, AT(calls.container) },
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },	/* that is waited for; null if unknown */
	{ "stream", NULL, 0, OUT_STREAM, AT(stream) },	/* with --per-stream: that is waited for */
	{ "func", NULL, 0, OUT_STR, AT(calls.func) },
	{ "complete", NULL, 0, OUT_BOOL, AT(calls.complete) },
	{ "count", NULL, 0, OUT_UINT, AT(calls.count) },	/* calls that returned */
	{ "total_ns", NULL, 0, OUT_UINT, AT(calls.total) },	/* ns: of these calls */
	{ "min_ns", NULL, 0, OUT_UINT, AT(calls.min) },	/* ns: shortest */
	{ "max_ns", NULL, 0, OUT_UINT, AT(calls.max) },	/* ns: longest */
	{ "p50_ns", NULL, 0, OUT_UINT, AT(calls.p50) },	/* ns: median */
	{ "p95_ns", NULL, 0, OUT_UINT, AT(calls.p95) },	/* ns: 95th percentile */
	{ "p99_ns", NULL, 0, OUT_UINT, AT(calls.p99) },	/* ns: 99th percentile */
	{ "hist", NULL, 0, OUT_HIST, AT(calls.hist) },	/* ns: calls by time */
	{ "off_cpu_ns", NULL, 0, OUT_UINT, AT(off) },	/* with --off-cpu: ns: part of total_ns off the CPU */
	{ "min_off_cpu_ns", NULL, 0, OUT_UINT, AT(off_spread.min) },	/* with --off-cpu: ns: shortest of a call */
	{ "max_off_cpu_ns", NULL, 0, OUT_UINT, AT(off_spread.max) },	/* with --off-cpu: ns: longest of a call */
	{ "p50_off_cpu_ns", NULL, 0, OUT_UINT, AT(off_spread.p50) },	/* with --off-cpu: ns: median */
	{ "p95_off_cpu_ns", NULL, 0, OUT_UINT, AT(off_spread.p95) },	/* with --off-cpu: ns: 95th percentile */
	{ "p99_off_cpu_ns", NULL, 0, OUT_UINT, AT(off_spread.p99) },	/* with --off-cpu: ns: 99th percentile */
	{ "hist_off_cpu", NULL, 0, OUT_HIST, AT(off_slots) },	/* with --off-cpu: ns: calls by it */
	{ "stack", NULL, 0, OUT_STACK, AT(calls.stack) },
	{ 0 }
};

_Static_assert(sizeof(fields) == sizeof(((struct wait_view *)0)->fields), "WAIT_FIELDS");

static const char *const off_keys[] = {
	"off_cpu_ns", "min_off_cpu_ns", "max_off_cpu_ns", "p50_off_cpu_ns", "p95_off_cpu_ns", "p99_off_cpu_ns",
	"hist_off_cpu",
};

void wait_row_init(struct wait_view *v)
{
	columns_of_groups(v->fields, fields, v->pids, v->stacks);
	if (!v->streams)
		columns_remove(v->fields, "stream");
	for (size_t i = 0; !v->off_cpu && i < sizeof(off_keys) / sizeof(*off_keys); i++)
		columns_remove(v->fields, off_keys[i]);
}

struct wait_row wait_row(const struct aggregates *aggregates, const struct aggregate *g)
{
	static const struct aggregate none = { .least = 1 };	/* more than .most: no values */
	const struct aggregate *off = aggregate_series(aggregates, g, WAIT_OFF_CPU) ?: &none;

	return (struct wait_row){
		.calls = call_stats_of(g), .device = g->key.device, .stream = g->key.stream,
		.off = g->ns, .off_slots = off->slots,
		.off_spread = hist_spread(off->slots, off->least, off->most),
	};
}
