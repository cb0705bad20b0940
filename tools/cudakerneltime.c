// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudakerneltime - show how long CUDA kernels and their blocks run on the GPU */
#include "abi/stack_frames.h"
#include "base/die.h"
#include "cli/out_file.h"
#include "cudakerneltime/launch_calls.h"
#include "cudakerneltime/export.h"
#include "proc/helper_pool.h"
#include "gpuprobe/gpuprobe_run.h"
#include "session/tool.h"
#include "sym/syms.h"
#include "gpuprobe/gpuprobe_view.h"
#include "view/kernel_names.h"
#include "kerneltime.ptx.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show how long the kernels that a command launches run on the GPU, by name, and how their\n"
		"blocks differ: what is new every interval, and the rest at the end.  Needs no root.",
	.examples =
	"  cudakerneltime -- ./train 2         # every kernel, when the command has ended\n"
	"  cudakerneltime 1 2 -c './train 100' # 2 reports, one a second\n"
	"  cudakerneltime -K 'add*,mul*' -- ./train 2 # some kernels\n"
	"  cudakerneltime -k -- ./train 2      # by call site\n"
	"  cudakerneltime --chrome out.json --blocks 1/16 -- ./train 2 # for Perfetto\n"
	"  cudakerneltime -j -- ./train 2      # JSON lines\n",
};

struct kerneltime {
	struct session session;
	struct event_loop events;
	struct gpuprobe gpuprobe;
	const char *chrome_path, *csv_path;
	struct run_reader reader;
	struct run_list list;
	struct launch_calls calls;
	struct kernel_rows rows;
	struct kernel_report report;
	struct chrome chrome;
	FILE *csv;
	struct helper_pool helpers;
	bool written;		/* false: a file could not be written */
};

/* Records of a module between two readings: four of each run. */
enum { RECORDS = 32768 };

static void on_run(void *ctx, const struct kernel_run *run)
{
	struct kerneltime *k = ctx;

	if (k->report.stacks || k->chrome.file)
		run_list_add(&k->list, run);
	if (!k->report.stacks)
		kernel_rows_add(&k->rows, run, NULL);
	if (k->csv)
		run_csv_add(k->csv, run, kernel_report_name(&k->report, run->site, false));
}

static void on_block(void *ctx, const struct kernel_block *b)
{
	struct kerneltime *k = ctx;

	run_list_add_block(&k->list, b);
}

static const char *config(void *ctx, struct gpuprobe_config *c)
{
	struct kerneltime *k = ctx;

	c->flags |= k->report.stacks ? GPUPROBE_CALLS : 0;
	c->groups = 1;		/* a run has a few records, a warp none */
	c->limit = RECORDS;
	if (!k->gpuprobe.blocks) {	/* no block has this number */
		c->block_mask = ~0u;
		c->block_want = ~0u;
	}
	c->probe_size = sizeof(kerneltime_ptx) - 1;
	return kerneltime_ptx;
}

static void start(void *ctx)
{
	static const struct stack_config native = { .native = 1 };
	struct kerneltime *k = ctx;

	k->helpers.asked_for = true;
	if (k->report.stacks)
		k->calls.syms = syms_new(&k->helpers, &native, NULL);
	if (k->chrome_path)
		chrome_open(&k->chrome, k->chrome_path);
	if (k->csv_path)
		k->csv = run_csv_open(k->csv_path);
}

static const char *frame(void *ctx, const struct gpuprobe_peer *peer, uint32_t kind, const void *data, size_t size)
{
	struct kerneltime *k = ctx;

	if (kind == GPUPROBE_LAUNCHES && k->report.stacks)
		return launch_calls_frame(&k->calls, peer->id, peer->pid, data, size);
	if (kind == GPUPROBE_MODULE && k->report.stacks)	/* early, because it may end soon */
		syms_refresh(k->calls.syms, peer->pid);
	return gpuprobe_frame(&k->gpuprobe, peer, kind, data, size);
}

static void read_records(void *ctx, const struct gpuprobe_module *module)
{
	struct kerneltime *k = ctx;

	run_reader_add(&k->reader, module, module->records, module->num_records);
}

static void report(void *ctx)
{
	struct kerneltime *k = ctx;

	kernel_report(&k->report, &k->rows, true);
	kernel_rows_clear(&k->rows);
}

static void warn_rest(struct kerneltime *k)
{
	if (k->reader.incomplete)
		warning(0, "%llu launch%s incomplete", k->reader.incomplete,
			k->reader.incomplete == 1 ? " is" : "es are");
	if (k->rows.refused)
		warning(0, "%llu launches left out: of more than %d kernels", k->rows.refused, KERNEL_ROWS_MAX);
	if (k->list.dropped)
		warning(0, "%llu launches and blocks left out: more than %d", k->list.dropped, RUNS_MAX);
	if (k->calls.dropped)
		warning(0, "%llu launch calls left out: more than %d", k->calls.dropped, LAUNCH_CALLS_MAX);
	if (k->calls.unmatched)
		warning(0, "%llu launches without call site: their kernels have not as many calls as launches, as with "
			"graphs", k->calls.unmatched);
	runs_warn_unfinished(&k->gpuprobe.modules);
}

static int finish(void *ctx, int sig)
{
	struct kerneltime *k = ctx;

	if (k->report.stacks)
		launch_calls_match(&k->calls, &k->list, &k->rows);
	kernel_report(&k->report, &k->rows, !k->events.interval_ns);
	if (k->chrome.file)
		chrome_runs(&k->chrome, &k->list, &k->report);
	run_reader_free(&k->reader);
	warn_rest(k);
	k->written = (!k->chrome.file || chrome_close(&k->chrome)) & (!k->csv || out_file_close(k->csv, k->csv_path));
	kernel_rows_clear(&k->rows);
	launch_calls_free(&k->calls);
	run_list_free(&k->list);
	syms_free(k->calls.syms);
	helper_pool_free(&k->helpers);
	return sig;
}

static void check(void *ctx)
{
	struct kerneltime *k = ctx;

	if (k->report.full && k->report.names >= 0)
		usage_error("--full and --kernel-names are mutually exclusive");
	k->report.full |= k->report.names == KERNEL_FULL;
	if (k->gpuprobe.blocks && !k->chrome_path)
		usage_error("--blocks requires --chrome");
	if (k->report.stacks && k->events.interval_ns)
		usage_error("--stacks takes no interval: which call launched what is known at the end");
}

int main(int argc, char **argv)
{
	struct kerneltime k = {
		.session = SESSION_INIT, .events = { .report = report, .ctx = &k },
		.gpuprobe = { GPUPROBE_INIT, .config = config, .frame = frame, .records = read_records },
		.helpers = HELPER_POOL_INIT,
		.reader = { .run = on_run, .block = on_block, .ctx = &k }, .written = true,
		.report.names = -1,
	};
	const struct opt opts[] = {
		OPT_GPU_RUN(&k.session),
		OPT_GPU_KERNELS(&k.gpuprobe),
		OPT_FLAG('k', "stacks", &k.report.stacks, "show each call site separately, with call stacks"),
		OPT_FLAG('f', "full", &k.report.full, "print kernel names with parameters"),
		OPT_KERNEL_NAMES(&k.report.names, "how text and files call kernels; default: text short, files brief"),
		OPT_NUM('r', "rows", "ROWS", &k.report.rows, 1, "print at most ROWS kernels; default: 20, all in JSON"),
		OPT_STR(0, "csv", "FILE", &k.csv_path, "write a line for each launch to FILE"),
		OPT_STR(0, "chrome", "FILE", &k.chrome_path, "write a timeline for Perfetto to FILE"),
		OPT_STR(0, "blocks", "1/N", &k.gpuprobe.blocks, "with every Nth block; N: a power of two"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .interval = true, .session = &k.session, .events = &k.events,
		.gpuprobe = &k.gpuprobe, .check = check, .prepare = start, .stop = finish, .ctx = &k,
	};
	int status = tool_run(&tool, argc, argv);

	return status || k.written ? status : EXIT_FAILURE;
}
