// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* @NAME@ - print each call of CUDA's functions of these classes: @CLASSES@ */
#include "model/calls.h"
#include "api/cuda_fn.h"
#include "cli/row.h"
#include "view/columns.h"
#include "view/stack_view.h"
#include "probe/process_progs.h"
#include "session/tool.h"
#include "@NAME@.skel.h"

static const struct usage usage = {
	.args = "",
	.what = "Print CUDA calls with their arguments, the time taken, and the error if they fail:\n"
		"@C_NOUNS@.",
	.examples =
	"  @NAME@ -d 5                # of all processes, for 5 seconds\n"
	"  @NAME@ -p 181 -x -k -d 5   # failures of one process, with call stacks\n"
	"  @NAME@ -p 181 --slower 1000 -d 5 # calls that take a millisecond or more\n"
	"  @NAME@ -jc './train 10'    # one command, as JSON lines\n",
};

#define AT(f) offsetof(struct call_row, f)
static const struct field all_fields[] = {
	{ "time", "TIME", -12, OUT_TIME, AT(time) },
	{ "pid", "PID", -7, OUT_INT, AT(pid) },
	{ "tid", NULL, 0, OUT_INT, AT(tid) },
	{ "comm", "COMM", -15, OUT_STR, AT(comm) },
	{ "layer", NULL, 0, OUT_STR, AT(layer) },
	{ "func", "FUNCTION", -22, OUT_STR, AT(func) },
@columns|	{ "@KEY@", "@HEAD@", @WIDTH@, @TYPE@, AT(@MEMBER@) },
	{ "latency_ns", "LAT(us)", 9, OUT_US, AT(latency) },
	{ "ret", NULL, 0, OUT_INT, AT(ret) },
	{ "error", NULL, 0, OUT_STR, AT(error) },
	{ NULL, "RESULT", -1, OUT_STR, AT(result) },
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ 0 }
};

struct snoop {
	bool failed, times, stacks;
@bytes|	long slower, min;
@!bytes|	long slower;
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];
	struct target target;
	struct event_loop events;
	struct @NAME@_bpf *skel;
};

static int on_record(void *ctx, void *data, size_t size)
{
	struct snoop *s = ctx;
	struct call_row row;

	(void)size;
	if (call_row(&row, data, s->target.syms, &s->target.looks))
		out_row(s->fields, &row);
	return 0;
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
	s->skel->rodata->calls_slower = s->slower * 1000ull;
@bytes|	s->skel->rodata->calls_min = s->min;
	process_progs_prepare(s->skel->obj, s->stacks);
	return s->skel;
}

int main(int argc, char **argv)
{
	struct snoop snoop = {
		.target = TARGET_INIT, .events = { .record = on_record, .ctx = &snoop },
	};
	const unsigned classes = @MASK@;
	const struct opt opts[] = {
		OPT_TARGET(&snoop.target),
		OPT_FLAG('x', "failed", &snoop.failed, "print only failed calls"),
		OPT_NUM(0, "slower", "US", &snoop.slower, 0, "print only calls that took at least US microseconds"),
@bytes|		OPT_SIZE('m', "min", "SIZE", &snoop.min, "print only calls of at least SIZE bytes"),
		OPT_FLAG('T', "timestamp", &snoop.times, "print a column with the time of day"),
		OPT_FLAG('k', "stack", &snoop.stacks, "print user call stacks"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .target = &snoop.target, .events = &snoop.events,
		.stacks = &snoop.stacks, .fields = snoop.fields, .classes = &classes,
		.ctx = &snoop, .open = open_skel,
	};

	return tool_run(&tool, argc, argv);
}
