// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* @NAME@ - show how long calls of these classes take, as histograms: @CLASSES@ */
#include <stdio.h>
#include "api/cuda_fn.h"
#include "cli/row.h"
#include "session/groups.h"
#include "session/tool.h"
#include "sym/stack.h"
#include "view/call_view.h"
#include "view/columns.h"
#include "view/stack_view.h"
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
	CALL_TIME_FIELDS(),
@bytes|	{ "bytes", NULL, 0, OUT_UINT, AT(second) },	/* with --bytes: bytes: of these calls */
@bytes|	{ "min_bytes", NULL, 0, OUT_UINT, AT(second_spread.min) },	/* with --bytes: bytes: smallest */
@bytes|	{ "max_bytes", NULL, 0, OUT_UINT, AT(second_spread.max) },	/* with --bytes: bytes: largest */
@bytes|	{ "hist_bytes", NULL, 0, OUT_HIST, AT(second_hist) },	/* with --bytes: bytes: calls by size */
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ 0 }
};
@bytes|static const char *const keys_of_bytes[] = { "bytes", "min_bytes", "max_bytes", "hist_bytes" };

static const struct profile_kind called = { .values = { { "time", "nanoseconds" }, { "calls", "count" } } };

struct hists {
@bytes|	struct groups groups;	/* aggregates.second: --bytes */
@!bytes|	struct groups groups;
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];
	struct session session;
	struct event_loop events;
	struct @NAME@_bpf *skel;
};

static void show(struct hists *h, const struct aggregate *g)
{
@bytes|	const struct call_stats s = groups_stats(&h->groups, g, cuda_fn_has_bytes(cuda_fn_of(g->key.key)));
@!bytes|	const struct call_stats s = groups_stats(&h->groups, g, false);

	if (groups_folded(&h->groups, &s, 0))
		return;
	if (out_is_json()) {
		out_row(h->fields, &s);
		return;
	}
	call_stats_text(&s);
@bytes|	if (h->groups.aggregates.second && s.second_spread.min != OUT_NONE)
@bytes|		call_stats_text_of_second(&s, OUT_UNIT_BYTES);
	if (h->groups.stacks)
		stack_text(s.stack);
	putchar('\n');
}

static void report(void *ctx)
{
	struct hists *h = ctx;

	groups_begin(&h->groups, true, NULL);
	for (size_t i = 0; i < h->groups.n; i++)
		show(h, h->groups.all[i]);
	groups_end(&h->groups);
}

static void *open_skel(void *ctx)
{
	struct hists *h = ctx;

	columns_of_groups(h->fields, all_fields, h->groups.pids, h->groups.stacks);
@bytes|	for (int i = 0; !h->groups.aggregates.second && i < 4; i++)
@bytes|		columns_remove(h->fields, keys_of_bytes[i]);
	h->skel = @NAME@_bpf__open();
	if (h->skel)
		GROUPS_OPEN(&h->groups, h->skel);
	return h->skel;
}

static void start(void *ctx)
{
	struct hists *h = ctx;

	GROUPS_START(&h->groups, h->skel);
}

int main(int argc, char **argv)
{
	struct hists hists = {
@bytes|		.groups = GROUPS_INIT(&hists.session, &called, "calls"), .groups.second = "bytes",
@!bytes|		.groups = GROUPS_INIT(&hists.session, &called, "calls"),
		.session = SESSION_INIT, .events = { .record = groups_record, .report = report, .ctx = &hists },
	};
	const unsigned classes = @MASK@;
	const struct opt opts[] = {
		OPT_TARGET(&hists.session),
		OPT_FLAG('P', "per-process", &hists.groups.pids, "one group per process"),
		OPT_GROUPS(&hists.groups, &hists.session, ", longest total time first", "nanoseconds"),
@bytes|		OPT_FLAG('B', "bytes", &hists.groups.aggregates.second, "also show histograms of bytes"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, TOOL_GROUPS(&hists.groups), .events = &hists.events, .classes = &classes,
		.ctx = &hists, .check = groups_check, .open = open_skel, .start = start, .close = groups_close,
	};

	return tool_run(&tool, argc, argv);
}
