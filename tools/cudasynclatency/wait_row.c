/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "abi/cudasynclatency.h"
#include "base/log2_hist.h"
#include "cli/row.h"
#include "cudasynclatency/wait_row.h"
#include "view/columns.h"
#include "view/stack_view.h"
#include "view/stream_field.h"

OUT_WORD(row_type, "waits");

#define AT(f) offsetof(struct wait_row, f)
static const struct field fields[] = {	/* for JSON; wait_view.c prints text */
	{ "type", NULL, 0, &row_type, 0 },
	{ "time", NULL, 0, OUT_TIME, AT(calls.time) },
	{ "pid", NULL, 0, OUT_INT, AT(calls.pid) },
	{ "comm", NULL, 0, OUT_STR, AT(calls.comm) },
	{ "container", NULL, 0, OUT_STR, AT(calls.container) },
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },
	{ "stream", NULL, 0, OUT_STREAM, AT(stream) },
	{ "func", NULL, 0, OUT_STR, AT(calls.func) },
	{ "complete", NULL, 0, OUT_BOOL, AT(calls.complete) },
	{ "count", NULL, 0, OUT_UINT, AT(calls.count) },
	{ "total_ns", NULL, 0, OUT_UINT, AT(calls.total) },
	{ "min_ns", NULL, 0, OUT_UINT, AT(calls.min) },
	{ "max_ns", NULL, 0, OUT_UINT, AT(calls.max) },
	{ "p50_ns", NULL, 0, OUT_UINT, AT(calls.p50) },
	{ "p95_ns", NULL, 0, OUT_UINT, AT(calls.p95) },
	{ "p99_ns", NULL, 0, OUT_UINT, AT(calls.p99) },
	{ "hist", NULL, 0, OUT_HIST, AT(calls.hist) },
	{ "off_cpu_ns", NULL, 0, OUT_UINT, AT(off) },
	{ "hist_off_cpu", NULL, 0, OUT_HIST, AT(off_slots) },
	{ "stack", NULL, 0, OUT_STACK, AT(calls.stack) },
	{ 0 }
};

_Static_assert(sizeof(fields) == sizeof(((struct wait_view *)0)->fields), "WAIT_FIELDS");

void wait_row_init(struct wait_view *v)
{
	columns_of_groups(v->fields, fields, v->pids, v->stacks);
	if (!v->streams)
		columns_remove(v->fields, "stream");
	if (!v->off_cpu) {
		columns_remove(v->fields, "off_cpu_ns");
		columns_remove(v->fields, "hist_off_cpu");
	}
}

struct wait_row wait_row(const struct aggregates *aggregates, const struct aggregate *g)
{
	static const unsigned long long none[HIST_SLOTS];
	const struct aggregate *off = aggregate_series(aggregates, g, WAIT_OFF_CPU);

	return (struct wait_row){
		.calls = call_stats_of(g), .device = g->key.device, .stream = g->key.stream,
		.off = g->ns, .off_slots = off ? off->slots : none,
	};
}
