/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/util.h"
#include "cudamemtime/accesses.h"

bool gpu_record_is_access(const struct gpu_record *record)
{
	return record->value <= GPU_VALUE_MAX;
}

static unsigned long long at(const struct gpuprobe_clock *clock, const struct gpuprobe_module *module, unsigned long long cycles)
{
	return gpuprobe_clock_ns(clock, cycles, module->khz);
}

static size_t fill(const struct gpuprobe_modules *m, const struct gpuprobe_module *module, struct gpu_access *to)
{
	const struct gpuprobe_clock *clock = NULL;
	size_t n = 0;

	for (size_t i = 0; i < module->num_records; i++) {
		const struct gpu_record *r = &module->records[i];

		if (!gpu_record_is_access(r))
			continue;
		if (!clock || clock->sm.smid != r->smid)	/* groups come one after the other */
			clock = gpuprobe_clocks_find(&m->clocks, &(struct gpuprobe_sm){ module->process->id, module->device,
									       r->smid });
		to[n++] = (struct gpu_access){ .module = module, .record = *r,
			.start_ns = at(clock, module, r->time), .end_ns = at(clock, module, r->time + r->value) };
	}
	return n;
}

static int compare_launch(const struct gpu_access *x, const struct gpu_access *y)
{
	if (x->module->process->id != y->module->process->id)
		return x->module->process->id > y->module->process->id ? 1 : -1;
	if (x->module->context != y->module->context)
		return x->module->context > y->module->context ? 1 : -1;
	return (x->record.grid > y->record.grid) - (x->record.grid < y->record.grid);
}

static int by_launch(const void *a, const void *b)
{
	return compare_launch(a, b);
}

static int by_start(const void *a, const void *b)
{
	const struct gpu_access *x = a, *y = b;

	if (x->module->process->id != y->module->process->id)
		return x->module->process->id > y->module->process->id ? 1 : -1;
	if (x->start_ns != y->start_ns)
		return x->start_ns > y->start_ns ? 1 : -1;
	if (x->record.time != y->record.time)
		return x->record.time > y->record.time ? 1 : -1;
	return (x->record.site > y->record.site) - (x->record.site < y->record.site);
}

static void number_launches(struct gpu_access *all, size_t n)
{
	qsort(all, n, sizeof(*all), by_launch);
	for (size_t i = 0; i < n; i++) {
		if (!i || all[i].module->process->id != all[i - 1].module->process->id)
			all[i].launch = 1;
		else
			all[i].launch = all[i - 1].launch + (compare_launch(&all[i], &all[i - 1]) != 0);
	}
}

struct gpu_access *gpu_accesses(struct gpuprobe_modules *m, size_t *n)
{
	struct gpu_access *all = xcalloc(m->records + 1, sizeof(*all));

	*n = 0;
	gpuprobe_clocks_sort(&m->clocks);
	for (const struct gpuprobe_process *p = m->first; p; p = p->next)
		for (uint32_t i = 0; i < p->num_modules; i++)
			if (p->modules[i])
				*n += fill(m, p->modules[i], all + *n);
	number_launches(all, *n);
	qsort(all, *n, sizeof(*all), by_start);
	return all;
}

static void count(struct gpuprobe_sum *sum, unsigned value)
{
	int slot = 31 - __builtin_clz(value | 1);

	sum->count++;
	sum->sum += value;
	sum->min = value < sum->min ? value : sum->min;
	sum->max = value > sum->max ? value : sum->max;
	sum->hist[slot < GPU_BUCKETS ? slot : GPU_BUCKETS - 1]++;
}

static void count_module(struct gpuprobe_module *module)
{
	for (unsigned i = 0; i < module->code->sites.num; i++)
		module->sums[i] = (struct gpuprobe_sum){ .min = ~0u };
	for (size_t i = 0; i < module->num_records; i++)
		if (gpu_record_is_access(&module->records[i]))
			count(&module->sums[module->records[i].site], module->records[i].value);
}

void gpu_accesses_count(struct gpuprobe_modules *m)
{
	for (const struct gpuprobe_process *p = m->first; p; p = p->next)
		for (uint32_t i = 0; i < p->num_modules; i++)
			if (p->modules[i])
				count_module(p->modules[i]);
}
