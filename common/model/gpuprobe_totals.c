/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "model/gpuprobe_totals.h"

static void add(struct gpuprobe_total *to, const struct gpuprobe_sum *sum, uint32_t khz)
{
	if (!sum->count)
		return;
	to->sum.count += sum->count;
	to->sum.sum += sum->sum;
	to->sum.min = sum->min < to->sum.min ? sum->min : to->sum.min;
	to->sum.max = sum->max > to->sum.max ? sum->max : to->sum.max;
	for (int i = 0; i < GPU_BUCKETS; i++)
		to->sum.hist[i] += sum->hist[i];
	if (!khz || to->ns < 0)
		to->ns = -1;
	else
		to->ns += sum->sum * 1e6 / khz;
}

static struct gpuprobe_total *add_code(struct gpuprobe_total *all, size_t n, const struct gpuprobe_code *code)
{
	unsigned sites = code->sites.num;

	all = xrealloc(all, n + sites + 1, sizeof(*all));
	for (unsigned i = 0; i < sites; i++)
		all[n + i] = (struct gpuprobe_total){ .code = code, .site = i, .sum.min = ~0u };
	return all;
}

static void add_modules(struct gpuprobe_total *all, const struct gpuprobe_modules *m)
{
	for (const struct gpuprobe_process *p = m->first; p; p = p->next) {
		for (uint32_t i = 0; i < p->num_modules; i++) {
			const struct gpuprobe_module *module = p->modules[i];

			if (!module)
				continue;
			for (unsigned s = 0; s < module->code->sites.num; s++)
				add(&all[module->code->begin + s], &module->sums[s], module->khz);
		}
	}
}

struct gpuprobe_total *gpuprobe_totals(const struct gpuprobe_modules *m, size_t *n)
{
	struct gpuprobe_total *all = NULL;
	size_t kept = 0;

	*n = 0;
	for (struct gpuprobe_code *code = m->first_code; code; code = code->next) {
		all = add_code(all, *n, code);
		code->begin = *n;
		*n += code->sites.num;
	}
	add_modules(all, m);
	for (size_t i = 0; i < *n; i++)
		if (all[i].sum.count)
			all[kept++] = all[i];
	*n = kept;
	return all;
}

void gpuprobe_sum_slots(const struct gpuprobe_sum *sum, unsigned long long slots[HIST_SLOTS])
{
	memset(slots, 0, HIST_SLOTS * sizeof(*slots));
	memcpy(slots, sum->hist, sizeof(sum->hist));
}
