// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* @NAME@ - print each call of CUDA's functions of these classes: @CLASSES@ */
#include <errno.h>
#include "model/calls.h"
#include "api/cuda_fn.h"
#include "base/die.h"
#include "session/event_loop.h"
#include "cli/out.h"
#include "probe/process_progs.h"
#include "sym/syms.h"
#include "session/target.h"
#include "@NAME@.skel.h"

static const struct usage usage = {
	.args = "",
	.what = "Print who calls CUDA, with what, how long it takes, and the error if it fails:\n"
		"@C_NOUNS@.",
	.examples =
	"  @NAME@ -d 5                # of all processes, for 5 seconds\n"
	"  @NAME@ -p 181 -x -k -d 5   # failures of one process, with call stacks\n"
	"  @NAME@ -p 181 -u 1000 -d 5 # those that take a millisecond and more\n"
	"  @NAME@ -jc './train 10'    # one command, as JSON lines\n",
};

static const unsigned int classes = @MASK@;

#define AT(f) offsetof(struct call_row, f)
static struct field fields[] = {
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
enum { TIME = 0, STACK = sizeof(fields) / sizeof(*fields) - 2 };

static int on_record(void *ctx, void *data, size_t size)
{
	struct call_row row;

	(void)size;
	if (!call_row(&row, data, ctx))
		return 0;
	out_row(fields, &row);
	return 0;
}

int main(int argc, char **argv)
{
	struct event_loop events = { .record = on_record };
	struct target target = TARGET_INIT;
	bool failed = false, times = false, stacks = false;
@bytes|	long slower = 0, min = 0;
@!bytes|	long slower = 0;
	const struct opt opts[] = {
		OPT_TARGET(&target),
		OPT_FLAG('x', "failed", &failed, "calls that failed only"),
		OPT_NUM('u', "slower", "US", &slower, 0, "calls that took at least so many microseconds"),
@bytes|		OPT_SIZE('m', "min", "SIZE", &min, "calls of at least SIZE bytes"),
		OPT_FLAG('T', "timestamp", &times, "a column with the time of day"),
		OPT_FLAG('k', "stack", &stacks, "user call stacks"),
		OPT_END
	};
	struct @NAME@_bpf *skel;
	int status;

	opt_no_operands(argc, argv, opt_parse(argc, argv, opts, &usage));
	target_init(&target);
	fields[TIME].head = times ? "TIME" : NULL;
	if (stacks)
		events.ctx = target.syms = syms_new();
	else
		fields[STACK].type = OUT_END;

	skel = @NAME@_bpf__open();
	if (!skel)
		die(errno, "cannot open the BPF programs");
	skel->rodata->calls_stacks = stacks;
	skel->rodata->calls_failed_only = failed;
	skel->rodata->calls_slower = slower * 1000ull;
@bytes|	skel->rodata->calls_min = min;
	process_progs_prepare(skel->obj, stacks);
	target_prepare(&target, skel->obj);
	if (@NAME@_bpf__load(skel))
		die(errno, "cannot load the BPF programs");
	if (@NAME@_bpf__attach(skel))
		die(errno, "cannot attach to the ends of processes");
	target_attach(&target, classes);

	out_head(fields);
	events.ring = skel->maps.events;
	events.lost = skel->bss->lost;
	status = event_loop_run(&target, &events);
	status = target_finish(&target, status);
	event_loop_lost(&events);
	syms_free(target.syms);
	@NAME@_bpf__destroy(skel);
	return status;
}
