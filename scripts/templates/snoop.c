// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* @NAME@ - print each call of CUDA's functions of these classes: @CLASSES@ */
#include "generated/calls.h"
#include "inflight/inflight.h"
#include "model/stack_sums.h"
#include "api/cuda_fn.h"
#include "cli/row.h"
#include "view/columns.h"
#include "view/stack_view.h"
#include "inflight/inflight_view.h"
#include "bpf/process_progs.h"
#include "pprof/profile.h"
#include "session/tool.h"
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
	{ "time", "TIME", -12, OUT_TIME, AT(time) },
	{ "pid", "PID", -7, OUT_INT, AT(pid) },
	{ "tid", NULL, 0, OUT_INT, AT(tid) },
	{ "comm", "COMM", -15, OUT_STR, AT(comm) },
	{ "layer", NULL, 0, OUT_STR, AT(layer) },	/* runtime, driver or usdt */
	{ "func", "FUNCTION", -22, OUT_STR, AT(func) },
@columns|	{ "@KEY@", "@HEAD@", @WIDTH@, @TYPE@, AT(@MEMBER@) },	/* @TEXT@ */
	{ "latency_ns", "LAT(us)", 9, OUT_US, AT(latency) },	/* of the call */
	{ "ret", NULL, 0, OUT_INT, AT(ret) },	/* result; 0: success */
	{ "error", NULL, 0, OUT_STR, AT(error) },	/* its name; null if none or unknown */
	{ NULL, "RESULT", -1, OUT_STR, AT(result) },
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ 0 }
};

struct snoop {
	bool failed, times, stacks, folded;
@bytes|	long slower, min;
@!bytes|	long slower;
@usdt|	bool usdt;
	struct stack_sums sums;	/* with --folded: ns */
	struct profile profile;
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];
	struct inflight inflight;
	struct session session;
	struct event_loop events;
	struct @NAME@_bpf *skel;
};

static void show(struct snoop *s, const struct call_row *r)
{
	profile_add(&s->profile, r->pid, r->comm, r->stack, r->func, 0, (unsigned long long[PROFILE_VALUES]){ r->latency, 1 });
	if (s->folded)
		stack_sums_add(&s->sums, r->pid, r->comm, r->stack, r->func, r->latency);
	else
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

static void check(void *ctx)
{
	const struct snoop *s = ctx;

	if (s->folded && s->times)
		usage_error("--folded prints no calls; it cannot be combined with --timestamp");
}

static void *open_skel(void *ctx)
{
	struct snoop *s = ctx;

	columns_of_calls(s->fields, all_fields, s->times, s->stacks);
	s->skel = @NAME@_bpf__open();
	if (!s->skel)
		return NULL;
	s->skel->rodata->calls_stacks = s->stacks;
	s->skel->rodata->calls_failed_only = s->failed;
	s->skel->rodata->calls_slower = s->slower;
@usdt|	s->session.probes.usdt = s->skel->rodata->calls_usdt = s->usdt;
@bytes|	s->skel->rodata->calls_min = s->min;
	process_progs_prepare(s->skel->obj, s->stacks);
	return s->skel;
}

static void start(void *ctx)
{
	struct snoop *s = ctx;

	s->inflight = (struct inflight)INFLIGHT_OF(s->skel, &s->session, s->stacks);
	inflight_start(&s->inflight);
}

static int stop(void *ctx, int sig)
{
	struct snoop *s = ctx;

	if (s->folded) {
		folded_sums(&s->sums);
		return sig;
	}
	inflight_collect(&s->inflight);
	inflight_view(&s->inflight);
	return sig;
}

static int finish(void *ctx, int status)
{
	struct snoop *s = ctx;

	inflight_free(&s->inflight);
@usdt|	session_check_usdt(&s->session);
	return status;
}

int main(int argc, char **argv)
{
	struct snoop snoop = {
		.sums = STACK_SUMS_INIT(&snoop.session.processes), .profile = PROFILE_INIT(&called, &snoop.session.processes),
		.session = SESSION_INIT, .events = { .record = on_record, .ctx = &snoop },
	};
	const unsigned classes = @MASK@;
	int status;
	const struct opt opts[] = {
		OPT_TARGET(&snoop.session),
		OPT_FLAG('x', "failed", &snoop.failed, "print only failed calls"),
		OPT_TIME(0, "slower", "US", &snoop.slower, VALUE_US, 0, "print only calls that took at least US microseconds"),
@bytes|		OPT_SIZE('m', "min", "SIZE", &snoop.min, "print only calls of at least SIZE bytes"),
@usdt|		OPT_FLAG(0, "usdt", &snoop.usdt, "print what libraries above CUDA do, by their USDT probes, too"),
		OPT_FLAG('T', "timestamp", &snoop.times, "print a column with the time of day"),
		OPT_FLAG('k', "stacks", &snoop.stacks, "print call stacks"),
		OPT_STACKS(&snoop.session),
		OPT_FLAG(0, "folded", &snoop.folded, "at the end, print one line per stack, for flame graphs: nanoseconds"),
		OPT_PPROF(&snoop.profile),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .session = &snoop.session, .events = &snoop.events,
		.stacks = &snoop.stacks, .folded = &snoop.folded, .profile = &snoop.profile, .fields = snoop.fields,
		.classes = &classes, .ctx = &snoop, .check = check, .open = open_skel,
		.start = start, .stop = stop, .close = finish,
	};

	status = tool_run(&tool, argc, argv);
	stack_sums_free(&snoop.sums);
	return status;
}
