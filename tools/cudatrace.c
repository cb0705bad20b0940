// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudatrace - print every call of the CUDA API, decoded: strace for CUDA */
#include <errno.h>
#include <stdlib.h>
#include <bpf/bpf.h>
#include "base/die.h"
#include "session/event_loop.h"
#include "cli/out.h"
#include "sym/syms.h"
#include "session/target.h"
#include "cudatrace/trace_program.h"
#include "cudatrace/trace_records.h"
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

/* Between open and load. */
static void configure(struct cudatrace_bpf *skel, const struct trace *t)
{
	skel->rodata->trace_nested = t->tree;
	skel->rodata->trace_failed_only = t->failed && !t->tree;
	skel->rodata->trace_entries = t->lines.entries;
	skel->rodata->trace_no_returns = t->no_returns;
	skel->rodata->trace_stacks = t->lines.stacks;
	if (bpf_map__set_max_entries(skel->maps.functions, cuda_protos_n))
		die(errno, "cannot size the table of functions");
}

int main(int argc, char **argv)
{
	struct target target = TARGET_INIT;
	struct trace trace = {};
	const struct opt opts[] = {
		OPT_TARGET(&target),
		OPT_STR('e', "trace", "EXPR", &trace.expression, "which functions: groups, names, patterns, !; see the manual"),
		OPT_FLAG('x', "failed", &trace.failed, "calls that failed only"),
		OPT_FLAG('t', "timestamp", &trace.lines.times, "a column with the time of day"),
		OPT_FLAG('T', "time-spent", &trace.lines.durations, "how long each call took"),
		OPT_FLAG('k', "stack", &trace.lines.stacks, "user call stacks"),
		OPT_FLAG('S', "summary", &trace.summary, "no lines; at the end a table by function"),
		OPT_STR('o', "output", "FILE", &trace.output, "write to FILE, not to standard output"),
		OPT_FLAG(0, "enter", &trace.lines.entries, "a line at the entry of each call, too"),
		OPT_FLAG(0, "enter-only", &trace.no_returns, "lines at entries alone: no return probes"),
		OPT_FLAG(0, "tree", &trace.tree, "also the calls inside of calls, indented"),
		OPT_FLAG(0, "unchecked", &trace.unchecked, "failed calls that nobody asked about"),
		OPT_STR(0, "chrome", "FILE", &trace.chrome, "no lines; a timeline for Perfetto into FILE"),
		OPT_END
	};
	struct cudatrace_bpf *skel;
	struct event_loop events = { .record = trace_record, .ctx = &trace };
	int status;

	opt_no_operands(argc, argv, opt_parse(argc, argv, opts, &usage));
	trace_prepare(&trace);
	target.on_scanned = trace_program_mapped;
	if (trace.output)
		out_to_file(trace.output);
	target_init(&target);
	if (trace.lines.stacks || trace.launches)
		syms_init();

	skel = cudatrace_bpf__open();
	if (!skel)
		die(errno, "cannot open the BPF programs");
	configure(skel, &trace);
	target_prepare(&target, skel->obj);
	if (cudatrace_bpf__load(skel))
		die(errno, "cannot load the BPF programs");
	for (int i = 0; i < cuda_protos_n; i++)
		if (bpf_map_update_elem(bpf_map__fd(skel->maps.functions), &i, &trace.functions[i], BPF_ANY))
			die(errno, "cannot fill the table of functions");
	if (cudatrace_bpf__attach(skel))
		die(errno, "cannot attach to the ends of processes");
	if (trace.chrome)
		trace_chrome_open(&trace.timeline, trace.chrome);
	target_attach_functions(&target, &trace.source);
	if (trace.launches)
		syms_each(trace_program_look);

	if (!trace.summary && !trace.chrome)
		trace_lines_init(&trace.lines);
	events.ring = skel->maps.events;
	events.lost = skel->bss->lost;
	status = event_loop_run(&target, &events);
	trace_tree_end(&trace.trees, -1);
	if (trace.summary)
		trace_summary_print(&trace.calls);
	status = target_finish(&target, status);
	event_loop_lost(&events);
	if (trace.chrome && !trace_chrome_close(&trace.timeline))
		status = status ? status : EXIT_FAILURE;
	trace_free(&trace);
	cudatrace_bpf__destroy(skel);
	return status;
}
