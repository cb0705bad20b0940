// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* @NAME@ - show how long calls of these classes take, as histograms: @CLASSES@ */
#include <stdio.h>
#include "model/call_stats.h"
#include "inflight/inflight.h"
#include "api/cuda_fn.h"
#include "cli/out.h"
#include "cli/row.h"
#include "sym/stack.h"
#include "session/preexisting.h"
#include "pprof/profile.h"
#include "session/tool.h"
#include "view/call_view.h"
#include "view/columns.h"
#include "view/stack_view.h"
#include "inflight/inflight_view.h"
#include "@NAME@.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show how long CUDA calls take, by function, as histograms: what is new every interval,\n"
		"and the rest at the end.  The calls are\n"
		"@C_NOUNS@.",
	.examples =
	"  @NAME@ -p 181 -d 5         # one process\n"
	"  @NAME@ -P 1 3              # by process, 3 times\n"
	"  @NAME@ -k -p 181 -d 5      # by call stack\n"
	"  @NAME@ --folded -p 181 -d 5 # flamegraph.pl input\n"
@bytes|	"  @NAME@ -Bjc './train 10'   # sizes too, as JSON\n",
@!bytes|	"  @NAME@ -jc './train 10'    # one command, as JSON\n",
};

OUT_WORD(row_type, "calls");

#define AT(f) offsetof(struct call_stats, f)
static const struct field all_fields[] = {	/* for JSON; show() prints text */
	{ "type", NULL, 0, &row_type, 0 },	/* calls of a function */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },	/* of the first thread seen in a call */
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },
	{ "func", NULL, 0, OUT_STR, AT(func) },
	{ "count", NULL, 0, OUT_UINT, AT(count) },	/* calls that succeeded */
	{ "failed", NULL, 0, OUT_UINT, AT(failed) },	/* calls that failed; other figures exclude them */
	{ "total_ns", NULL, 0, OUT_UINT, AT(total) },	/* ns: of these calls */
	{ "min_ns", NULL, 0, OUT_UINT, AT(times.min) },	/* ns: shortest */
	{ "max_ns", NULL, 0, OUT_UINT, AT(times.max) },	/* ns: longest */
	{ "p50_ns", NULL, 0, OUT_UINT, AT(times.p50) },	/* ns: median */
	{ "p95_ns", NULL, 0, OUT_UINT, AT(times.p95) },	/* ns: 95th percentile */
	{ "p99_ns", NULL, 0, OUT_UINT, AT(times.p99) },	/* ns: 99th percentile */
	{ "hist", NULL, 0, OUT_HIST, AT(hist) },	/* ns: calls by time */
@bytes|	{ "bytes", NULL, 0, OUT_UINT, AT(bytes) },	/* with --bytes: bytes: of these calls */
@bytes|	{ "min_bytes", NULL, 0, OUT_UINT, AT(min_bytes) },	/* with --bytes: bytes: smallest */
@bytes|	{ "max_bytes", NULL, 0, OUT_UINT, AT(max_bytes) },	/* with --bytes: bytes: largest */
@bytes|	{ "hist_bytes", NULL, 0, OUT_HIST, AT(hist_bytes) },	/* with --bytes: bytes: calls by size */
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ 0 }
};
@bytes|static const char *const keys_of_bytes[] = { "bytes", "min_bytes", "max_bytes", "hist_bytes" };

static const struct profile_kind called = { .values = { { "time", "nanoseconds" }, { "calls", "count" } } };

struct hists {
@bytes|	bool pids, stacks, folded, bytes;
@!bytes|	bool pids, stacks, folded;
	struct profile profile;
	struct call_stats_set calls;
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];
	struct inflight inflight;
	struct session session;
	struct event_loop events;
	struct @NAME@_bpf *skel;
};

static void show(struct hists *h, const struct call_stats *s)
{
	profile_add(&h->profile, s->pid, s->comm, s->stack, s->func, 0, (unsigned long long[PROFILE_VALUES]){ s->total, s->count });
	if (h->folded) {
		folded_line(s->comm, s->stack, s->func, s->total);
		return;
	}
	if (out_is_json()) {
		out_row(h->fields, s);
		return;
	}
	call_stats_text(s);
@bytes|	if (h->bytes)
@bytes|		call_stats_text_of_bytes(s);
	if (h->stacks)
		stack_text(s->stack);
	putchar('\n');
}

static void report(void *ctx)
{
	struct hists *h = ctx;
	const struct call_stats *stats;
	size_t n;

	stats = call_stats_take(&h->calls, h->skel->maps.aggregates, &h->skel->bss->aggregate_epoch, true, &n);
	inflight_collect(&h->inflight);
	if (!out_is_json() && !h->folded)
		preexisting_head(&h->session.processes, n ? "" : h->inflight.n ? " no calls have ended" : " no calls", "calls");
	for (size_t i = 0; i < n; i++)
		show(h, &stats[i]);
	if (!h->folded)
		inflight_view(&h->inflight);
	aggregate_clear(&h->calls.aggregates);
	process_tidy(&h->session.processes);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct hists *h = ctx;

@bytes|	call_stats_record(&h->calls, data, size, h->bytes);
@!bytes|	call_stats_record(&h->calls, data, size, false);
	return 0;
}

static void check(void *ctx)
{
	struct hists *h = ctx;

@bytes|	if (h->folded && h->bytes)
@bytes|		usage_error("--folded and --bytes are mutually exclusive");
	h->pids |= h->folded || h->profile.path || h->session.json;
}

static void *open_skel(void *ctx)
{
	struct hists *h = ctx;

	columns_of_groups(h->fields, all_fields, h->pids, h->stacks);
@bytes|	for (int i = 0; !h->bytes && i < 4; i++)
@bytes|		columns_remove(h->fields, keys_of_bytes[i]);
	h->skel = @NAME@_bpf__open();
	if (!h->skel)
		return NULL;
	h->skel->rodata->aggregate_stacks = h->stacks;
	h->skel->rodata->aggregate_pids = h->pids;
@bytes|	h->skel->rodata->calls_bytes = h->bytes;
	aggregate_prepare(&h->calls.aggregates, h->skel->obj, h->session.syms, &h->session.processes);
	h->session.processes.keeps_ended = true;
	return h->skel;
}

static void start(void *ctx)
{
	struct hists *h = ctx;

	call_stats_start(&h->calls);
	h->inflight = (struct inflight)INFLIGHT_OF(h->skel, &h->session, h->stacks);
	inflight_start(&h->inflight);
}

static int finish(void *ctx, int status)
{
	struct hists *h = ctx;

	inflight_free(&h->inflight);
	return status;
}

int main(int argc, char **argv)
{
	struct hists hists = {
		.session = SESSION_INIT, .profile = PROFILE_INIT(&called, &hists.session.processes),
		.events = { .record = on_record, .report = report, .ctx = &hists },
	};
	const unsigned classes = @MASK@;
	int status;
	const struct opt opts[] = {
		OPT_TARGET(&hists.session),
		OPT_FLAG('P', "per-process", &hists.pids, "one group per process"),
		OPT_FLAG('k', "stacks", &hists.stacks, "one group per call stack, longest total time first"),
		OPT_STACKS(&hists.session),
		OPT_FLAG(0, "folded", &hists.folded, "print one line per stack, for flame graphs: nanoseconds"),
		OPT_PPROF(&hists.profile),
@bytes|		OPT_FLAG('B', "bytes", &hists.bytes, "also show histograms of bytes"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .interval = true, .session = &hists.session,
		.events = &hists.events, .stacks = &hists.stacks, .folded = &hists.folded, .profile = &hists.profile,
		.classes = &classes, .ctx = &hists, .check = check, .open = open_skel, .start = start,
		.close = finish,
	};

	status = tool_run(&tool, argc, argv);
	call_stats_free(&hists.calls);
	return status;
}
