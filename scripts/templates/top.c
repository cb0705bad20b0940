// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* @NAME@ - show how often functions of these classes are called, and how long they take:
 * @CLASSES@ */
#include <stdlib.h>
#include <string.h>
#include "api/cuda_fn.h"
#include "base/clock.h"
#include "base/util.h"
#include "cli/sorted_table.h"
#include "inflight/inflight_view.h"
#include "session/groups.h"
#include "session/live.h"
#include "session/tool.h"
#include "view/columns.h"
#include "view/stack_view.h"
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

struct row { struct call_stats calls; char comm[16]; double interval, rate; };

OUT_WORD(row_type, "calls");

#define AT(f) offsetof(struct row, f)
static const struct field all_fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* calls of a function */
	{ "time", NULL, 0, OUT_TIME, AT(calls.time) },
	{ "interval_s", NULL, 0, OUT_REAL, AT(interval) },	/* s: length of the interval */
	{ "pid", "PID", -7, OUT_INT, AT(calls.pid) },
	{ "comm", "COMM", -15, OUT_CHARS, AT(comm) },	/* of the first thread seen in a call */
	{ "complete", NULL, 0, OUT_BOOL, AT(calls.complete) },
	{ "func", "FUNCTION", -22, OUT_STR, AT(calls.func) },
	{ "calls", "CALLS", 10, OUT_UINT, AT(calls.calls) },	/* in the interval, including failed ones */
	{ "calls_per_s", "CALLS/S", 11, OUT_REAL, AT(rate) },	/* in the interval */
	{ "failed", "FAILED", 8, OUT_UINT, AT(calls.failed) },	/* calls that failed */
	{ "total_ns", "TOTAL(us)", 12, OUT_US, AT(calls.total) },	/* of calls that succeeded */
	{ "mean_ns", "MEAN(us)", 10, OUT_US, AT(calls.mean) },	/* of calls that succeeded */
	{ "max_ns", "MAX(us)", 10, OUT_US, AT(calls.times.max) },	/* longest */
@bytes|	{ "bytes", "BYTES", 14, OUT_UINT, AT(calls.second) },	/* bytes: of these calls */
	{ "stack", NULL, 0, OUT_STACK, AT(calls.stack) },
	{ 0 }
};

@bytes|#define SORT_WORDS "total|mean|max|calls|failed|bytes|func"
@!bytes|#define SORT_WORDS "total|mean|max|calls|failed|func"
static const struct table_sort sorts[] = {	/* as the words */
	{ "total_ns", NULL }, { "mean_ns", NULL }, { "max_ns", NULL }, { "calls", NULL }, { "failed", NULL },
@bytes|	{ "bytes", NULL },
	{ "func", NULL }, { NULL, NULL },
};

static const struct profile_kind called = { .values = { { "time", "nanoseconds" }, { "calls", "count" } } };

struct top {
	struct groups groups;
	struct sorted_table table;
	struct live_table live;
	bool batch;
	char *who;
	unsigned long long since;	/* the interval began: CLOCK_MONOTONIC, ns */
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];
	struct session session;
	struct event_loop events;
	struct @NAME@_bpf *skel;
};

static int compare(const struct sorted_table *t, const void *a, const void *b)
{
	const struct call_stats *p = a, *q = b;

	(void)t;
	return (p->total < q->total) - (p->total > q->total) ?: strcmp(p->func, q->func) ?: p->pid - q->pid;
}

static void totals(const struct sorted_table *t, FILE *f)
{
	const struct row *rows = t->rows;
	double rate = 0;

	for (size_t i = 0; i < t->n; i++)
		rate += rows[i].rate;
	fprintf(f, "%.1f calls/s", rate);
}

static void callers(FILE *f, const void *row)
{
	stack_view_callers(f, ((const struct row *)row)->calls.stack);
}

static void gather(void *ctx, bool whole)
{
	struct top *t = ctx;
	struct groups *g = &t->groups;
	struct row *rows;

	(void)whole;		/* what is counted is counted once */
	groups_collect(g, false);
	t->table.rows = rows = xrealloc(t->table.rows, g->n + 1, sizeof(*rows));
	t->table.n = g->n;
	for (size_t i = 0; i < g->n; i++) {
@bytes|		const bool bytes = cuda_fn_has_bytes(cuda_fn_of(g->all[i]->key.key));
		struct row r = {
@bytes|			.calls = groups_stats(g, g->all[i], bytes), .interval = (g->now - t->since) / 1e9,
@!bytes|			.calls = groups_stats(g, g->all[i], false), .interval = (g->now - t->since) / 1e9,
		};

		r.rate = r.interval > 0 ? r.calls.calls / r.interval : 0;
		memcpy(r.comm, r.calls.comm, sizeof(r.comm));
		groups_folded(g, &r.calls, 0);
		rows[i] = r;
	}
	groups_clear(g);
	t->since = g->now;
}

static void print(void *ctx)
{
	struct top *t = ctx;

	if (t->groups.folded)	/* gather() has printed it */
		return;
	sorted_table_print(&t->table);
	inflight_collect(&t->groups.inflight);
	inflight_view(&t->groups.inflight);
}

static void next(void *ctx)
{
	struct top *t = ctx;

	process_tidy(&t->session.processes);
}

static void report(void *ctx)
{
	const struct top *t = ctx;

	live_report(&t->live);
}

static bool tick(void *ctx)
{
	struct top *t = ctx;

	return live_tick(&t->table.screen);
}

static void *open_skel(void *ctx)
{
	struct top *t = ctx;

	columns_of_groups(t->fields, all_fields, t->groups.pids, t->groups.stacks);
	t->skel = @NAME@_bpf__open();
	if (t->skel)
		GROUPS_OPEN(&t->groups, t->skel);
	return t->skel;
}

static void start(void *ctx)
{
	struct top *t = ctx;

	GROUPS_START(&t->groups, t->skel);
	t->since = clock_ns();
	t->table.screen.who = t->who = session_who(&t->session);
	sorted_table_start(&t->table);
	live_start(&t->session, &t->events, t->batch || t->groups.folded);
}

static int stop(void *ctx, int sig)
{
	struct top *t = ctx;

	live_stop(&t->live, &t->session, &t->events);
	free(t->table.rows);
	free(t->who);
	return sig;
}

int main(int argc, char **argv)
{
	struct top top = {
		.groups = GROUPS_INIT(&top.session, &called, "calls"), .session = SESSION_INIT,
		.table = {
			.fields = top.fields, .sorts = sorts, .then = compare, .totals = totals, .after = callers,
			.text_rows = 20, .size = sizeof(struct row),
		},
		.live = { &top.table.screen, &top, gather, print, next },
		.events = { .record = groups_record, .report = report, .tick = tick, .ctx = &top },
	};
	const unsigned classes = @MASK@;
	const struct opt opts[] = {
		OPT_TARGET(&top.session),
		OPT_FLAG('b', "batch", &top.batch, "print blocks of text even on a terminal"),
		OPT_FLAG('P', "per-process", &top.groups.pids, "one group per process"),
		OPT_GROUPS(&top.groups, &top.session, "", "nanoseconds"),
		OPT_NUM('r', "rows", "ROWS", &top.table.max, 1, "print at most ROWS rows; default: 20, all in JSON and live"),
		OPT_CHOICE('s', "sort", SORT_WORDS, &top.table.sort, "sort order; default: total"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, TOOL_GROUPS(&top.groups), .events = &top.events, .classes = &classes,
		.ctx = &top, .check = groups_check, .open = open_skel, .start = start, .stop = stop, .close = groups_close,
	};

	return tool_run(&tool, argc, argv);
}
