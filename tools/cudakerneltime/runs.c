/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "base/die.h"
#include "base/util.h"
#include "cudakerneltime/runs.h"

enum { TIME_BITS = 4 /* of a step: base/hist_slot.h */, GPU_STEP_BITS = 2 };

static unsigned long long clamp(unsigned long long ns, unsigned long long min, unsigned long long max)
{
	return ns > max ? max : ns < min ? min : ns;
}

void time_steps_add(struct time_steps *t, unsigned long long ns)
{
	unsigned step = hist_slot(ns, hist_shift(hist_log2(ns), TIME_BITS), TIME_BITS);

	if (!t->count++ || ns < t->min)
		t->min = ns;
	if (ns > t->max)
		t->max = ns;
	t->total += ns;
	t->n[step < TIME_STEPS ? step : TIME_STEPS - 1]++;
}

void time_steps_join(struct time_steps *t, const struct time_steps *more)
{
	if (!t->count || (more->count && more->min < t->min))
		t->min = more->min;
	if (more->max > t->max)
		t->max = more->max;
	t->count += more->count;
	t->total += more->total;
	for (unsigned i = 0; i < TIME_STEPS; i++)
		t->n[i] += more->n[i];
}

static struct hist_range step_range(const void *from, unsigned step)
{
	const struct time_steps *t = from;

	return (struct hist_range){ hist_low(step, TIME_BITS), hist_high(step, TIME_BITS), t->n[step] };
}

struct hist_totals time_steps_totals(const struct time_steps *t)
{
	const struct hist_counts steps = { t, TIME_STEPS, false, step_range };

	return (struct hist_totals){
		.count = t->count, .total = t->total,
		.spread = hist_counts_spread(&steps, t->count ? t->min : NO_VALUE, t->max),
	};
}

void time_steps_rows(const struct time_steps *t, unsigned long long rows[HIST_ROWS])
{
	for (unsigned i = 0; i < TIME_STEPS; i++)
		rows[hist_row_of(hist_low(i, TIME_BITS))] += t->n[i];
}

/* Returns the time in the middle of a quarter of an octave (abi/gpu_variables.h: enum gpu_step), within [min, max]. */
static unsigned long long gpu_step_ns(unsigned step, unsigned long long min, unsigned long long max)
{
	if (step >= GPU_STEPS - 1)
		return max;
	return clamp((hist_low(step, GPU_STEP_BITS) + hist_high(step, GPU_STEP_BITS)) / 2, min, max);
}

/* The four records of a run are adjacent; other records between them have overwritten the rest. */
struct run_part {
	const struct gpuprobe_module *module;
	unsigned n;			/* records so far */
	uint32_t site, grid;
	gpu_u64 words[2 * GPU_LAUNCH_PARTS];
	UT_hash_handle hh;
};

static struct run_part *part_of(struct run_reader *reader, const struct gpuprobe_module *module)
{
	struct run_part *part;

	HASH_FIND_PTR(reader->parts, &module, part);
	if (!part) {
		part = xcalloc(1, sizeof(*part));
		part->module = module;
		HASH_ADD_PTR(reader->parts, module, part);
	}
	return part;
}

static bool makes_sense(const struct gpu_launch *l)
{
	return l->blocks && l->start <= l->end && l->min <= l->max && l->max <= l->end - l->start;
}

static void whole(struct run_reader *reader, const struct run_part *part)
{
	struct kernel_run run = { .module = part->module, .site = &part->module->code->sites.site[part->site] };
	const struct gpu_launch *g = &run.gpu;

	_Static_assert(sizeof(run.gpu) == sizeof(part->words), "a launch has these words");
	memcpy(&run.gpu, part->words, sizeof(run.gpu));
	if (!makes_sense(g)) {
		reader->incomplete++;
		return;
	}
	run.p50 = gpu_step_ns(g->steps & 0xff, g->min, g->max);
	run.p95 = gpu_step_ns(g->steps >> 8 & 0xff, g->min, g->max);
	run.p99 = gpu_step_ns(g->steps >> 16 & 0xff, g->min, g->max);
	reader->run(reader->ctx, &run);
}

static void add_part(struct run_reader *reader, struct run_part *part, const struct gpu_record *r)
{
	unsigned i = r->value - GPU_LAUNCH;

	if (part->n && (i != part->n || r->site != part->site || r->grid != part->grid)) {
		reader->incomplete++;
		part->n = 0;
	}
	if (i != part->n)	/* its first record is among the module's lost ones */
		return;
	part->site = r->site;
	part->grid = r->grid;
	part->words[2 * i] = r->time;
	part->words[2 * i + 1] = r->warp | (gpu_u64)r->block << 32;
	if (++part->n == GPU_LAUNCH_PARTS) {
		whole(reader, part);
		part->n = 0;
	}
}

void run_reader_add(struct run_reader *reader, const struct gpuprobe_module *module, const struct gpu_record *records,
		    size_t n)
{
	struct run_part *part = part_of(reader, module);

	for (size_t i = 0; i < n; i++) {
		const struct gpu_record *r = &records[i];

		if (r->site >= module->code->sites.num)
			continue;
		if (r->value >= GPU_LAUNCH && r->value < GPU_LAUNCH + GPU_LAUNCH_PARTS) {
			add_part(reader, part, r);
		} else if (r->value < 1u << GPU_BLOCK_BITS && reader->block) {
			reader->block(reader->ctx, &(struct kernel_block){
				.module = module, .site = &module->code->sites.site[r->site], .start = r->time,
				.ns = r->value | (unsigned long long)(r->warp & 0xffff) << GPU_BLOCK_BITS,
				.smid = r->smid, .block = r->block, .grid = r->grid,
			});
		}
	}
}

void run_reader_free(struct run_reader *reader)
{
	struct run_part *part, *next;

	HASH_ITER(hh, reader->parts, part, next) {
		reader->incomplete += part->n != 0;
		HASH_DEL(reader->parts, part);
		free(part);
	}
}

/* Returns the array with room for one more: 64, 128 … */
static void *room(void *array, size_t n, size_t size)
{
	if (n && (n < 64 || n & (n - 1)))
		return array;
	return xrealloc(array, n ? 2 * n : 64, size);
}

void run_list_add(struct run_list *list, const struct kernel_run *run)
{
	if (list->runs == RUNS_MAX) {
		list->dropped++;
		return;
	}
	list->run = room(list->run, list->runs, sizeof(*run));
	list->run[list->runs++] = *run;
}

void run_list_add_block(struct run_list *list, const struct kernel_block *block)
{
	if (list->blocks == RUNS_MAX) {
		list->dropped++;
		return;
	}
	list->block = room(list->block, list->blocks, sizeof(*block));
	list->block[list->blocks++] = *block;
}

void run_list_free(struct run_list *list)
{
	free(list->run);
	free(list->block);
}

static void add(const struct gpuprobe_module *module, unsigned long long *running, unsigned long long *no_room)
{
	for (unsigned i = 0; i < module->code->sites.num; i++) {
		const unsigned long long *n = module->sums[i].hist;

		if (n[GPU_LAUNCHES_BEGUN] > n[GPU_LAUNCHES_ENDED])
			*running += n[GPU_LAUNCHES_BEGUN] - n[GPU_LAUNCHES_ENDED];
		*no_room += n[GPU_LAUNCH_NO_ROOM];
	}
}

void runs_warn_unfinished(const struct gpuprobe_modules *m)
{
	unsigned long long running = 0, no_room = 0;
	const struct gpuprobe_module *module;

	gpuprobe_for_each_module(m, module)
		add(module, &running, &no_room);
	if (running)
		warning(0, "%llu launch%s did not end before the GPU was last read", running, running == 1 ? "" : "es");
	if (no_room)
		warning(0, "%llu block%s left out: too many launches ran at once", no_room, plural(no_room));
}
