// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudamemtime - show how long memory accesses in CUDA kernels take */
#include "cudamemtime/files.h"
#include "cudamemtime/measure.h"

static const struct usage usage = {
	.args = "[interval [count] | FILE...]",
	.what = "Show how long memory accesses inside CUDA kernels take, by place in the source, as histograms of\n"
		"cycles: what was measured so far every interval, and all of it at the end.",
	.examples =
	"  cudamemtime --blocks 1/64 -- ./train 1 # loads and atomics of all kernels\n"
	"  cudamemtime -K 'add*' -S all --op all -c './train 1' # all accesses of some\n"
	"  cudamemtime -S shared,wait --op all --scheme fence -- ./train 1\n"
	"  cudamemtime --chrome gantt.json -K 'add*' -c './train 1' # ui.perfetto.dev\n"
	"  cudamemtime --csv accesses.csv --stage -K 'add*' -c './train 1' # each access\n"
	"  cudamemtime --list ./train          # the places, without running it\n"
	"  cudamemtime --patch ./train ./measured # a copy that has the probes already\n",
};

struct memtime {
	struct measure measure;
	struct file_list list;
	struct file_patch patch;
	bool wants_list, wants_patch;
};

static void operands(void *ctx, int argc, char **argv, int first)
{
	struct memtime *t = ctx;
	struct measure *m = &t->measure;

	if (t->wants_list && t->wants_patch)
		usage_error("--list and --patch are mutually exclusive");
	if ((t->wants_list || t->wants_patch) && m->session.command)
		usage_error("--%s runs nothing: it cannot be combined with a command", t->wants_list ? "list" : "patch");
	if (t->list.arch && !t->wants_list)
		usage_error("--arch requires --list");
	if (t->wants_list) {
		if (argc - first != 1)
			usage_error("--list requires one file");
		t->list.path = argv[first];
	} else if (t->wants_patch) {
		if (argc - first != 2)
			usage_error("--patch requires two files, IN and OUT");
		t->patch.in = argv[first];
		t->patch.out = argv[first + 1];
	} else {
		opt_interval(argc, argv, first, &m->events.interval_ns, &m->events.count);
	}
}

static void check(void *ctx)
{
	struct memtime *t = ctx;

	measure_check(&t->measure);
	if (t->wants_list)
		exit(file_list(&t->list, &t->measure));
	if (t->wants_patch)
		exit(file_patch(&t->patch, &t->measure));
}

int main(int argc, char **argv)
{
	struct memtime t = {
		.measure = {
			.session = SESSION_INIT, .events = { .report = measure_report, .ctx = &t },
			.gpuprobe = { GPUPROBE_INIT, .config = measure_config },
		},
	};
	struct measure *m = &t.measure;
	const struct opt opts[] = {
		OPT_GPU(&m->session, &m->gpuprobe),
		OPT_LIST('S', "spaces", "SPACE[,SPACE...]", &m->spaces, choice_space_word,
			 "accesses to these; default: global,generic,readonly,tex"),
		OPT_LIST(0, "op", "OP[,OP...]", &m->ops, choice_op_word, "these accesses; default: load,atomic"),
		OPT_CHOICE(0, "scheme", SCHEME_WORDS, &m->scheme, "how to wait for an access; default: dep"),
		OPT_STR(0, "csv", "FILE", &m->csv, "write each access to FILE, as comma-separated values"),
		OPT_STR(0, "chrome", "FILE", &m->chrome, "write each access to FILE, as a timeline for Perfetto"),
		OPT_NUM(0, "records", "N", &m->records, 1, "room for N accesses between two readings; default: 8192"),
		OPT_FLAG(0, "stage", &m->stage, "collect accesses in shared memory first"),
		OPT_FLAG(0, "list", &t.wants_list, "print the places in a file, and exit; -v: with the cost of probes"),
		OPT_STR(0, "arch", "sm_NN", &t.list.arch, "with --list -v: for this architecture"),
		OPT_FLAG(0, "patch", &t.wants_patch, "write a copy of a file with probes in it, and exit"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .session = &m->session, .events = &m->events, .gpuprobe = &m->gpuprobe,
		.operands = operands, .check = check, .prepare = measure_start, .stop = measure_stop, .ctx = &t,
	};
	int status = tool_run(&tool, argc, argv);

	status = !status && m->failed ? EXIT_FAILURE : status;
	measure_free(m);
	return status;
}
