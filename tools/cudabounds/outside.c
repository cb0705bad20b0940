/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "cudabounds/outside.h"

struct outside_half {
	const struct gpuprobe_module *module;
	bool there;
	struct outside first;
	UT_hash_handle hh;
};

static struct outside_half *half_of(struct outsides *all, const struct gpuprobe_module *module)
{
	struct outside_half *half;

	HASH_FIND_PTR(all->halves, &module, half);
	if (!half) {
		half = xcalloc(1, sizeof(*half));
		half->module = module;
		HASH_ADD_PTR(all->halves, module, half);
	}
	return half;
}

static void add(struct outsides *all, const struct outside *o)
{
	if (all->n == OUTSIDE_MAX) {
		all->dropped++;
		return;
	}
	if (!(all->n & (all->n - 1)))	/* room for 1, 2, 4 … */
		all->at = xrealloc(all->at, all->n ? 2 * all->n : 1, sizeof(*all->at));
	all->at[all->n++] = *o;
}

static void add_record(struct outsides *all, struct outside_half *half, const struct gpu_record *r)
{
	struct outside *o = &half->first;

	if (r->value != GPU_BOUNDS) {
		all->dropped += half->there;
		half->there = true;
		*o = (struct outside){
			.code = half->module->code, .site = r->site, .bytes = r->value & 0xff, .lanes = r->value >> 8 & 0xff,
			.block = r->block, .warp = r->warp & 0xffff, .grid = r->grid, .addr = r->time,
		};
	} else if (half->there && o->site == r->site && o->grid == r->grid) {
		half->there = false;
		o->low = r->time;
		o->size = r->warp | (unsigned long long)r->block << 32;
		add(all, o);
	} else {
		all->dropped++;
	}
}

void outside_records(struct outsides *all, struct gpuprobe_modules *m, struct gpuprobe_module *module)
{
	struct outside_half *half = half_of(all, module);

	for (size_t i = 0; i < module->num_records; i++)
		add_record(all, half, &module->records[i]);
	gpuprobe_modules_forget(m, module);
}

void outside_free(struct outsides *all)
{
	struct outside_half *half, *next;

	HASH_ITER(hh, all->halves, half, next) {
		HASH_DEL(all->halves, half);
		free(half);
	}
	free(all->at);
}
