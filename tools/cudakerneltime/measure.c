/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "abi/stack_frames.h"
#include "base/die.h"
#include "cudakerneltime/launch_chrome.h"
#include "cudakerneltime/launch_ends.h"
#include "cudakerneltime/measure.h"
#include "sym/syms.h"
#include "view/gpuprobe_notes.h"
#include "kerneltime.ptx.h"

/* Records of a module between two readings: four of each launch. */
enum { RECORDS = 32768 };

static void on_launch(void *ctx, const struct kernel_launch *l)
{
	struct kerneltime *k = ctx;

	if (k->report.stacks || k->chrome.file)
		launch_keep_launch(&k->keep, l);
	if (!k->report.stacks)
		kernel_rows_add(&k->rows, l, NULL);
	if (k->csv.file)
		launch_csv_add(&k->csv, l, kernel_report_name(&k->report, l->site));
}

static void on_block(void *ctx, const struct kernel_block *b)
{
	struct kerneltime *k = ctx;

	launch_keep_block(&k->keep, b);
}

struct launch_join measure_join(struct kerneltime *k)
{
	return (struct launch_join){ .launch = on_launch, .block = on_block, .ctx = k };
}

const char *measure_config(void *ctx, struct gpuprobe_config *c)
{
	struct kerneltime *k = ctx;

	c->flags |= k->report.stacks ? GPUPROBE_CALLS : 0;
	c->groups = 1;		/* a launch has a few records, a warp none */
	c->limit = RECORDS;
	if (!k->gpuprobe.blocks) {	/* no block has this number */
		c->block_mask = ~0u;
		c->block_want = ~0u;
	}
	c->probe_size = sizeof(kerneltime_ptx) - 1;
	return kerneltime_ptx;
}

void measure_start(void *ctx)
{
	static const struct stack_config native = { .native = 1 };
	struct kerneltime *k = ctx;

	k->helpers.asked_for = true;
	if (k->report.stacks)
		k->calls.syms = syms_new(&k->helpers, &native);
	if (k->chrome_path)
		chrome_open(&k->chrome, k->chrome_path);
	if (k->csv_path)
		launch_csv_open(&k->csv, k->csv_path);
}

const char *measure_frame(void *ctx, const struct gpuprobe_peer *peer, uint32_t kind, const void *data, size_t size)
{
	struct kerneltime *k = ctx;
	const struct gpuprobe_records *frame = data;
	struct gpuprobe_module *module;
	const char *wrong;

	if (kind == GPUPROBE_LAUNCHES && k->report.stacks)
		return launch_calls_frame(&k->calls, peer->id, peer->pid, data, size);
	if (kind == GPUPROBE_MODULE && k->report.stacks)	/* before it calls: it may end soon */
		syms_refresh(k->calls.syms, peer->pid);
	wrong = gpuprobe_modules_frame(&k->modules, peer->id, peer->pid, kind, data, size);
	if (wrong || kind != GPUPROBE_RECORDS)
		return wrong;
	module = gpuprobe_modules_find(&k->modules, peer->id, frame->module);
	if (!module)
		return NULL;
	launch_join_records(&k->join, module, module->records, module->num_records);
	gpuprobe_modules_forget(&k->modules, module);
	return NULL;
}

void measure_report(void *ctx)
{
	struct kerneltime *k = ctx;

	kernel_report(&k->report, &k->rows, true);
	kernel_rows_clear(&k->rows);
}

static void say_rest(struct kerneltime *k)
{
	if (k->join.incomplete)
		warning(0, "%llu launch%s incomplete", k->join.incomplete,
			k->join.incomplete == 1 ? " is" : "es are");
	if (k->rows.refused)
		warning(0, "%llu launches left out: of more than %d kernels", k->rows.refused, KERNEL_ROWS_MAX);
	if (k->keep.dropped)
		warning(0, "%llu launches and blocks left out: more than %d", k->keep.dropped, LAUNCH_KEEP_MAX);
	if (k->calls.dropped)
		warning(0, "%llu launch calls left out: more than %d", k->calls.dropped, LAUNCH_CALLS_MAX);
	if (k->calls.unmatched)
		warning(0, "%llu launches without call site: their kernels have not as many calls as launches, as with "
			"graphs", k->calls.unmatched);
	launch_ends_say(&k->modules);
	gpuprobe_notes(&k->modules, k->gpuprobe.peers.peers.n, k->session.verbose);
}

int measure_stop(void *ctx, int sig)
{
	struct kerneltime *k = ctx;

	if (k->report.stacks)
		launch_calls_match(&k->calls, &k->keep, &k->rows);
	kernel_report(&k->report, &k->rows, !k->events.interval_ns);
	if (k->chrome.file)
		launch_chrome(&k->chrome, &k->keep, &k->report);
	if (k->session.json)
		gpuprobe_notes_json(&k->modules.images);
	launch_join_free(&k->join);
	say_rest(k);
	k->written = (!k->chrome.file || chrome_close(&k->chrome)) & (!k->csv.file || launch_csv_close(&k->csv));
	kernel_rows_clear(&k->rows);
	launch_calls_free(&k->calls);
	launch_keep_free(&k->keep);
	gpuprobe_modules_free(&k->modules);
	syms_free(k->calls.syms);
	helper_pool_free(&k->helpers);
	return sig;
}
