// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudatrace - print every call of the CUDA API, decoded: strace for CUDA */
#include <errno.h>
#include <stdlib.h>
#include <bpf/bpf.h>
#include "base/die.h"
#include "cli/out.h"
#include "sym/programs.h"
#include "sym/syms.h"
#include "session/tool.h"
#include "cudatrace/trace.h"
#include "cudatrace/trace_chrome.h"
#include "cudatrace/trace_program.h"
#include "cudatrace/trace_records.h"
#include "cudatrace/trace_summary.h"
#include "cudatrace/trace_tree.h"
#include "cudatrace.skel.h"

static const struct usage usage = {
	.args = "",
	.what = "Print each call of the CUDA API as it returns, with its arguments by name and what it\n"
		"stored, the error by name, and the time on request: what strace does for system calls.",
	.examples =
	"  cudatrace -c './train 2'                     # what a command calls\n"
	"  cudatrace -e 'memory,!cudaFree' -T -p 181    # some functions, with the time spent\n"
	"  cudatrace -x -k -p 181                       # what failed, and where it was called\n"
	"  cudatrace --unchecked -p 181                 # what failed, and nobody asked why\n"
	"  cudatrace -S -p 181 -d 2                     # calls, errors and times by function\n"
	"  cudatrace --tree -c './train 1'              # the driver's calls in the runtime's\n"
	"  cudatrace --chrome train.json -c './train 2' # a timeline for Perfetto\n",
};

struct tracer {
	struct trace trace;
	struct target target;
	struct event_loop events;
	struct cudatrace_bpf *skel;
};

static void on_scanned(void *ctx, int pid)
{
	struct tracer *t = ctx;

	trace_program_mapped(t->trace.programs, pid);
}

static void check(void *ctx)
{
	struct tracer *t = ctx;

	trace_prepare(&t->trace);
	t->target.probes.tool = t;
	t->target.probes.on_scanned = on_scanned;
	if (t->trace.output)
		out_to_file(t->trace.output);
}

static void *open_skel(void *ctx)
{
	struct tracer *t = ctx;

	if (t->trace.lines.stacks || t->trace.launches)
		t->trace.syms = t->target.syms = syms_new();
	t->trace.programs = trace_programs_new(t->target.syms);
	t->skel = cudatrace_bpf__open();
	if (!t->skel)
		return NULL;
	t->skel->rodata->trace_nested = t->trace.tree;
	t->skel->rodata->trace_failed_only = t->trace.failed && !t->trace.tree;
	t->skel->rodata->trace_entries = t->trace.lines.entries;
	t->skel->rodata->trace_no_returns = t->trace.no_returns;
	t->skel->rodata->trace_stacks = t->trace.lines.stacks;
	if (bpf_map__set_max_entries(t->skel->maps.functions, cuda_protos_n))
		die(errno, "cannot size the table of functions");
	return t->skel;
}

static void loaded(void *ctx)
{
	struct tracer *t = ctx;
	int functions = bpf_map__fd(t->skel->maps.functions);

	for (int i = 0; i < cuda_protos_n; i++)
		if (bpf_map_update_elem(functions, &i, &trace_functions[i], BPF_ANY))
			die(errno, "cannot fill the table of functions");
	if (t->trace.chrome)
		trace_chrome_open(t->trace.chrome);
}

static void scan(void *ctx, int pid)
{
	trace_program_scan(ctx, pid);
}

static void start(void *ctx)
{
	struct tracer *t = ctx;

	if (t->trace.launches)
		syms_each(t->target.syms, scan, t->trace.programs);
	if (!t->trace.summary && !t->trace.chrome)
		trace_lines_init(&t->trace.lines);
	t->events.ring = t->skel->maps.events;
	t->events.lost = t->skel->bss->lost;
}

static int stop(void *ctx, int sig)
{
	struct tracer *t = ctx;

	trace_tree_end(-1);
	if (t->trace.summary)
		trace_summary_print();
	return sig;
}

static int finish(void *ctx, int status)
{
	struct tracer *t = ctx;

	if (t->trace.chrome && !trace_chrome_close())
		status = status ? status : EXIT_FAILURE;
	programs_free(t->trace.programs);
	return status;
}

int main(int argc, char **argv)
{
	struct tracer tracer = { .target = TARGET_INIT, .events = { .record = trace_record } };
	struct trace *trace = &tracer.trace;
	const struct opt opts[] = {
		OPT_TARGET(&tracer.target),
		OPT_STR('e', "trace", "EXPR", &trace->expression, "which functions: groups, names, patterns, !; see the manual"),
		OPT_FLAG('x', "failed", &trace->failed, "print failed calls only"),
		OPT_FLAG('t', "timestamp", &trace->lines.times, "print the time of day"),
		OPT_FLAG('T', "time-spent", &trace->lines.durations, "print the time spent in each call"),
		OPT_FLAG('k', "stack", &trace->lines.stacks, "print user call stacks"),
		OPT_FLAG('S', "summary", &trace->summary, "no lines; at the end a table by function"),
		OPT_STR('o', "output", "FILE", &trace->output, "write to FILE, not to standard output"),
		OPT_FLAG(0, "enter", &trace->lines.entries, "print a line at the entry of each call too"),
		OPT_FLAG(0, "enter-only", &trace->no_returns, "print entries only: no return probes"),
		OPT_FLAG(0, "tree", &trace->tree, "print nested calls too, indented"),
		OPT_FLAG(0, "unchecked", &trace->unchecked, "print failed calls whose error was never checked"),
		OPT_STR(0, "chrome", "FILE", &trace->chrome, "no lines; write a timeline for Perfetto to FILE"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .target = &tracer.target, .events = &tracer.events,
		.source = &trace_chosen, .ctx = &tracer, .check = check, .open = open_skel,
		.loaded = loaded, .start = start, .stop = stop, .close = finish,
	};

	return tool_run(&tool, argc, argv);
}
