// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* @NAME@ - show how often functions of these classes are called, and how long they take:
 * @CLASSES@ */
#include <stdlib.h>
#include "generated/call_top.h"
#include "api/cuda_fn.h"
#include "inflight/inflight.h"
#include "session/live.h"
#include "pprof/profile.h"
#include "session/tool.h"
#include "view/columns.h"
#include "inflight/inflight_view.h"
#include "view/stack_view.h"
#include "cli/top_screen.h"
#include "@NAME@.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show how often CUDA functions are called and how long they take: on a terminal\n"
		"live in place, every interval (1 second); otherwise in blocks, every interval and at the\n"
		"end.  The functions are\n"
		"@C_NOUNS@.",
	.examples =
	"  @NAME@ -d 5                # every process\n"
	"  @NAME@ -P 1 3              # by process, 3 times\n"
	"  @NAME@ -k -r 3 -p 181 -d 1 # the 3 longest\n"
	"  @NAME@ --folded -p 181 -d 5 # flamegraph.pl input\n"
	"  @NAME@ -jc './train 10'    # one command, as JSON\n",
};

OUT_WORD(row_type, "calls");

#define AT(f) offsetof(struct call_stats, f)
static const struct field all_fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* calls of a function */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "interval_s", NULL, 0, OUT_REAL, AT(interval) },	/* s: length of the interval */
	{ "pid", "PID", -7, OUT_INT, AT(pid) },
	{ "comm", "COMM", -15, OUT_STR, AT(comm) },	/* of the first thread seen in a call */
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },
	{ "func", "FUNCTION", -22, OUT_STR, AT(func) },
	{ "calls", "CALLS", 10, OUT_UINT, AT(calls) },	/* in the interval, including failed ones */
	{ "calls_per_s", "CALLS/S", 11, OUT_REAL, AT(rate) },	/* in the interval */
	{ "failed", "FAILED", 8, OUT_UINT, AT(failed) },	/* calls that failed */
	{ "total_ns", "TOTAL(us)", 12, OUT_US, AT(total) },	/* of calls that succeeded */
	{ "mean_ns", "MEAN(us)", 10, OUT_US, AT(mean) },	/* of calls that succeeded */
	{ "max_ns", "MAX(us)", 10, OUT_US, AT(times.max) },	/* longest */
@bytes|	{ "bytes", "BYTES", 14, OUT_UINT, AT(bytes) },	/* bytes: of these calls */
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ 0 }
};

/* option words, which are also the keys of the fields */
@bytes|#define SORT_WORDS "total|mean|max|calls|failed|bytes|func"
@bytes|static const char *const sorts[] = { "total_ns", "mean_ns", "max_ns", "calls", "failed", "bytes",
@bytes|				     "func", NULL };
@!bytes|#define SORT_WORDS "total|mean|max|calls|failed|func"
@!bytes|static const char *const sorts[] = { "total_ns", "mean_ns", "max_ns", "calls", "failed", "func",
@!bytes|				     NULL };

static const struct profile_kind called = { .values = { { "time", "nanoseconds" }, { "calls", "count" } } };

struct top {
	struct call_top table;
	bool batch, pids, stacks, live;
	struct profile profile;
	char *who;
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];
	struct inflight inflight;
	struct session session;
	struct event_loop events;
	struct @NAME@_bpf *skel;
};

static void report(void *ctx)
{
	struct top *t = ctx;

	call_top_report(&t->table);
	if (!screen_is_open() && !t->table.folded) {
		inflight_collect(&t->inflight);
		inflight_view(&t->inflight);
	}
	process_tidy(&t->session.processes);
}

static bool tick(void *ctx)
{
	struct top *t = ctx;

	return call_top_tick(&t->table);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct top *t = ctx;

	call_stats_record(&t->table.calls, data, size, false);
	return 0;
}

static void check(void *ctx)
{
	struct top *t = ctx;

	t->pids |= t->table.folded || t->profile.path || t->session.json;
}

static void *open_skel(void *ctx)
{
	struct top *t = ctx;

	columns_of_groups(t->fields, all_fields, t->pids, t->stacks);
	t->skel = @NAME@_bpf__open();
	if (!t->skel)
		return NULL;
	t->skel->rodata->aggregate_stacks = t->stacks;
	t->skel->rodata->aggregate_pids = t->pids;
	aggregate_prepare(&t->table.calls.aggregates, t->skel->obj, t->session.syms, &t->session.processes);
	t->session.processes.keeps_ended = true;
	return t->skel;
}

static void start(void *ctx)
{
	struct top *t = ctx;

	t->table.aggregates = t->skel->maps.aggregates;
	t->table.epoch = &t->skel->bss->aggregate_epoch;
	t->table.screen.who = t->who = session_who(&t->session);
	call_top_start(&t->table);
	t->inflight = (struct inflight)INFLIGHT_OF(t->skel, &t->session, t->stacks);
	inflight_start(&t->inflight);
	t->live = !t->table.folded && live_start(&t->session, &t->events, t->batch);
}

static int stop(void *ctx, int sig)
{
	struct top *t = ctx;

	screen_close();
	if (!t->live && !t->events.counted_out)
		report(t);
	free(t->who);
	return sig;
}

static int finish(void *ctx, int status)
{
	struct top *t = ctx;

	inflight_free(&t->inflight);
	return status;
}

int main(int argc, char **argv)
{
	struct top top = {
		.table = { .fields = top.fields, .sorts = sorts, .profile = &top.profile }, .session = SESSION_INIT,
		.profile = PROFILE_INIT(&called, &top.session.processes),
		.events = { .record = on_record, .report = report, .tick = tick, .ctx = &top },
	};
	const unsigned classes = @MASK@;
	int status;
	const struct opt opts[] = {
		OPT_TARGET(&top.session),
		OPT_FLAG('b', "batch", &top.batch, "print blocks of text even on a terminal"),
		OPT_FLAG('P', "per-process", &top.pids, "one group per process"),
		OPT_FLAG('k', "stacks", &top.stacks, "one group per call stack"),
		OPT_STACKS(&top.session),
		OPT_FLAG(0, "folded", &top.table.folded, "print one line per stack, for flame graphs: nanoseconds"),
		OPT_PPROF(&top.profile),
		OPT_NUM('r', "rows", "ROWS", &top.table.rows, 1, "print at most ROWS rows; default: 20, all in JSON and live"),
		OPT_CHOICE('s', "sort", SORT_WORDS, &top.table.sort, "sort order; default: total"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .interval = true, .session = &top.session,
		.events = &top.events, .stacks = &top.stacks, .folded = &top.table.folded, .profile = &top.profile,
		.classes = &classes, .ctx = &top, .check = check, .open = open_skel, .start = start, .stop = stop,
		.close = finish,
	};

	status = tool_run(&tool, argc, argv);
	call_stats_free(&top.table.calls);
	return status;
}
