// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudakerneltime - show how long CUDA kernels and their blocks run on the GPU */
#include "base/die.h"
#include "cudakerneltime/measure.h"

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

static void check(void *ctx)
{
	struct kerneltime *k = ctx;

	if (k->gpuprobe.blocks && !k->chrome_path)
		usage_error("--blocks requires --chrome");
	if (k->report.stacks && k->events.interval_ns)
		usage_error("--stacks takes no interval: which call launched what is known at the end");
}

int main(int argc, char **argv)
{
	struct kerneltime k = {
		.session = SESSION_INIT, .events = { .report = measure_report, .ctx = &k },
		.gpuprobe = { GPUPROBE_INIT, .config = measure_config, .frame = measure_frame },
		.helpers = HELPER_POOL_INIT,
		.join = measure_join(&k), .written = true,
	};
	const struct opt opts[] = {
		OPT_GPU_RUN(&k.session),
		OPT_GPU_KERNELS(&k.gpuprobe),
		OPT_FLAG('k', "stacks", &k.report.stacks, "show each call site separately, with call stacks"),
		OPT_FLAG('f', "full", &k.report.full, "print kernel names with parameters"),
		OPT_NUM('r', "rows", "ROWS", &k.report.rows, 1, "print at most ROWS kernels; default: 20, all in JSON"),
		OPT_STR(0, "csv", "FILE", &k.csv_path, "write a line for each launch to FILE"),
		OPT_STR(0, "chrome", "FILE", &k.chrome_path, "write a timeline for Perfetto to FILE"),
		OPT_STR(0, "blocks", "1/N", &k.gpuprobe.blocks, "with every Nth block; N: a power of two"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .interval = true, .session = &k.session, .events = &k.events,
		.gpuprobe = &k.gpuprobe, .check = check, .prepare = measure_start, .stop = measure_stop, .ctx = &k,
	};
	int status = tool_run(&tool, argc, argv);

	return status || k.written ? status : EXIT_FAILURE;
}
