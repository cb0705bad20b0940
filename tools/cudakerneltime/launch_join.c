/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "cudakerneltime/launch_join.h"
#include "cudakerneltime/time_steps.h"

/* The four records of a launch stand one after the other; what comes in between has overwritten the rest. */
struct launch_part {
	const struct gpuprobe_module *module;
	unsigned n;			/* came */
	uint32_t site, grid;
	gpu_u64 words[2 * GPU_LAUNCH_PARTS];
	UT_hash_handle hh;
};

static struct launch_part *part_of(struct launch_join *join, const struct gpuprobe_module *module)
{
	struct launch_part *part;

	HASH_FIND_PTR(join->parts, &module, part);
	if (!part) {
		part = xcalloc(1, sizeof(*part));
		part->module = module;
		HASH_ADD_PTR(join->parts, module, part);
	}
	return part;
}

static bool makes_sense(const struct gpu_launch *l)
{
	return l->blocks && l->start <= l->end && l->min <= l->max && l->max <= l->end - l->start;
}

static void whole(struct launch_join *join, const struct launch_part *part)
{
	struct kernel_launch l = { .module = part->module, .site = &part->module->code->sites.site[part->site] };
	const struct gpu_launch *g = &l.gpu;

	_Static_assert(sizeof(l.gpu) == sizeof(part->words), "a launch has these words");
	memcpy(&l.gpu, part->words, sizeof(l.gpu));
	if (!makes_sense(g)) {
		join->incomplete++;
		return;
	}
	l.p50 = gpu_step_ns(g->steps & 0xff, g->min, g->max);
	l.p95 = gpu_step_ns(g->steps >> 8 & 0xff, g->min, g->max);
	l.p99 = gpu_step_ns(g->steps >> 16 & 0xff, g->min, g->max);
	join->launch(join->ctx, &l);
}

static void add_part(struct launch_join *join, struct launch_part *part, const struct gpu_record *r)
{
	unsigned i = r->value - GPU_LAUNCH;

	if (part->n && (i != part->n || r->site != part->site || r->grid != part->grid)) {
		join->incomplete++;
		part->n = 0;
	}
	if (i != part->n)	/* its first record was lost, and is counted where records are */
		return;
	part->site = r->site;
	part->grid = r->grid;
	part->words[2 * i] = r->time;
	part->words[2 * i + 1] = r->warp | (gpu_u64)r->block << 32;
	if (++part->n == GPU_LAUNCH_PARTS) {
		whole(join, part);
		part->n = 0;
	}
}

void launch_join_records(struct launch_join *join, const struct gpuprobe_module *module, const struct gpu_record *records,
			 size_t n)
{
	struct launch_part *part = part_of(join, module);

	for (size_t i = 0; i < n; i++) {
		const struct gpu_record *r = &records[i];

		if (r->site >= module->code->sites.num)
			continue;
		if (r->value >= GPU_LAUNCH && r->value < GPU_LAUNCH + GPU_LAUNCH_PARTS) {
			add_part(join, part, r);
		} else if (r->value < 1u << GPU_BLOCK_BITS && join->block) {
			join->block(join->ctx, &(struct kernel_block){
				.module = module, .site = &module->code->sites.site[r->site], .start = r->time,
				.ns = r->value | (unsigned long long)(r->warp & 0xffff) << GPU_BLOCK_BITS,
				.smid = r->smid, .block = r->block, .grid = r->grid,
			});
		}
	}
}

void launch_join_free(struct launch_join *join)
{
	struct launch_part *part, *next;

	HASH_ITER(hh, join->parts, part, next) {
		join->incomplete += part->n != 0;
		HASH_DEL(join->parts, part);
		free(part);
	}
}
