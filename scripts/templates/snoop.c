// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* @NAME@ - print each call of CUDA's functions of these classes: @CLASSES@ */
#include "api/cuda_fn.h"
#include "bpf/process_progs.h"
#include "cli/row.h"
#include "session/call_lines.h"
#include "session/tool.h"
#include "view/columns.h"
#include "view/stack_view.h"
#include "@NAME@.skel.h"

static const struct usage usage = {
	.args = "",
	.what = "Print CUDA calls with their arguments, the time taken, and the error if they fail:\n"
		"@C_NOUNS@.",
	.examples =
	"  @NAME@ -d 5                # all processes\n"
	"  @NAME@ -p 181 -x -k -d 5   # failed calls\n"
	"  @NAME@ -p 181 --slower 1000 -d 5 # slow calls\n"
	"  @NAME@ -jc './train 10'    # one command, as JSON\n"
	"  @NAME@ --folded -p 181 -d 5 # flamegraph.pl input\n",
};

static const struct profile_kind called = { .values = { { "time", "nanoseconds" }, { "calls", "count" } } };

OUT_WORD(row_type, "call");

#define AT(f) offsetof(struct call_row, f)
static const struct field all_fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* a call */
	CALL_BEGIN_FIELDS,
	{ "layer", NULL, 0, OUT_STR, AT(call.layer) },	/* runtime, driver or usdt */
	{ "func", "FUNCTION", -22, OUT_STR, AT(call.func) },
@columns|	{ "@KEY@", "@HEAD@", @WIDTH@, @TYPE@, AT(@MEMBER@) },	/* @TEXT@ */
	{ "latency_ns", "LAT(us)", 9, OUT_US, AT(call.latency) },	/* of the call */
	{ "ret", NULL, 0, OUT_INT, AT(call.ret) },	/* result; 0: success */
	CALL_END_FIELDS,
	{ 0 }
};

struct snoop {
	struct call_lines lines;
@bytes|	long min;		/* bytes */
@usdt|	bool usdt;
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];
	struct session session;
	struct event_loop events;
	struct @NAME@_bpf *skel;
};

static void show(struct snoop *s, const struct call_row *r)
{
	if (!call_lines_folded(&s->lines, &r->call, 0, (unsigned long long[PROFILE_VALUES]){ r->call.latency, 1 }))
		out_row(s->fields, r);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct snoop *s = ctx;
	struct call_row row;

	if (!call_row(&row, data, size, s->session.syms, &s->session.helpers))
		return 0;
	show(s, &row);
	return 0;
}

static void *open_skel(void *ctx)
{
	struct snoop *s = ctx;

	columns_of_calls(s->fields, all_fields, s->lines.times, s->lines.stacks);
	s->skel = @NAME@_bpf__open();
	if (!s->skel)
		return NULL;
	s->skel->rodata->calls_stacks = s->lines.stacks;
	s->skel->rodata->calls_failed_only = s->lines.failed;
	s->skel->rodata->calls_slower = s->lines.slower;
@usdt|	s->session.probes.usdt = s->skel->rodata->calls_usdt = s->usdt;
@bytes|	s->skel->rodata->calls_min = s->min;
	process_progs_prepare(s->skel->obj, s->lines.stacks);
	return s->skel;
}

static void start(void *ctx)
{
	struct snoop *s = ctx;

	CALL_LINES_START(&s->lines, s->skel, s->lines.stacks);
}

@usdt|static int finish(void *ctx, int status)
@usdt|{
@usdt|	struct snoop *s = ctx;
@usdt|
@usdt|	session_check_usdt(&s->session);
@usdt|	return call_lines_close(&s->lines, status);
@usdt|}
@usdt|
int main(int argc, char **argv)
{
	struct snoop snoop = {
		.lines = CALL_LINES_INIT(&snoop.session, &called), .session = SESSION_INIT,
		.events = { .record = on_record, .ctx = &snoop },
	};
	const unsigned classes = @MASK@;
	const struct opt opts[] = {
		OPT_TARGET(&snoop.session),
		OPT_LINES_FAILED(&snoop.lines),
		OPT_LINES_SLOWER(&snoop.lines),
@bytes|		OPT_SIZE('m', "min", "SIZE", &snoop.min, "print only calls of at least SIZE bytes"),
@usdt|		OPT_FLAG(0, "usdt", &snoop.usdt, "print what libraries above CUDA do, by their USDT probes, too"),
		OPT_LINES_STACKS(&snoop.lines),
		OPT_LINES_FOLDED(&snoop.lines, "nanoseconds"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, TOOL_CALL_LINES(&snoop.lines), .events = &snoop.events, .fields = snoop.fields,
		.classes = &classes, .ctx = &snoop, .check = call_lines_check, .open = open_skel, .start = start,
@usdt|		.stop = call_lines_stop, .close = finish,
@!usdt|		.stop = call_lines_stop, .close = call_lines_close,
	};

	return tool_run(&tool, argc, argv);
}
