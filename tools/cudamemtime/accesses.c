/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "base/csv_text.h"
#include "base/escape.h"
#include "base/util.h"
#include "cli/out_file.h"
#include "cudamemtime/accesses.h"
#include "gpuprobe/gpuprobe_view.h"

/* Return true if the record is of an access: probes may record other things. */
static bool is_access(const struct gpu_record *record)
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

		if (!is_access(r))
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
	const struct gpuprobe_module *module;

	*n = 0;
	gpuprobe_clocks_sort(&m->clocks);
	gpuprobe_for_each_module(m, module)
		*n += fill(m, module, all + *n);
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
		if (is_access(&module->records[i]))
			count(&module->sums[module->records[i].site], module->records[i].value);
}

void gpu_accesses_count(struct gpuprobe_modules *m)
{
	struct gpuprobe_module *module;

	gpuprobe_for_each_module(m, module)
		count_module(module);
}

static void text(FILE *f, const char *s)
{
	csv_text(f, s);
	putc(',', f);
}

static void number(FILE *f, unsigned long long n)
{
	if (n != NO_VALUE)
		fprintf(f, "%llu", n);
	putc(',', f);
}

static void line(FILE *f, const struct gpu_access *a, const char *kernel)
{
	const struct gpu_record *r = &a->record;
	const struct site *site = &a->module->code->sites.site[r->site];

	number(f, a->launch);
	text(f, kernel);
	number(f, r->block);
	number(f, r->warp & 0xffff);
	number(f, r->smid);
	number(f, r->warp >> 16);
	number(f, r->site);
	text(f, site->file ?: "");
	number(f, site->file ? site->line : NO_VALUE);
	text(f, site->kind);
	text(f, site->space);
	text(f, site->op);
	number(f, a->start_ns);
	number(f, a->end_ns);
	fprintf(f, "%llu,%u\n", r->time, r->value);
}

bool csv_write(FILE *f, const char *path, const struct gpu_access *accesses, size_t n, struct kernels *kernels)
{
	const char *symbol = NULL, *name = NULL;

	fputs("launch,kernel,block,warp,sm,slot,site,file,line,kind,space,op,start_ns,end_ns,start_clock,cycles\n", f);
	for (size_t i = 0; i < n; i++) {
		const struct gpu_access *a = &accesses[i];
		const char *its = a->module->code->sites.site[a->record.site].kernel;

		if (its != symbol)
			name = kernels_get(kernels, its)->name;
		symbol = its;
		line(f, a, name);
	}
	return out_file_close(f, path);
}

/* A track: an SM of a process and device, and a warp slot of it. */
struct track {
	const struct gpuprobe_module *module;
	unsigned smid, slot;
	int pid;		/* the timeline's, from 1 */
};

static int compare_sm(const struct track *x, const struct track *y)
{
	if (x->module->process->id != y->module->process->id)
		return x->module->process->id > y->module->process->id ? 1 : -1;
	if (x->module->device != y->module->device)
		return x->module->device > y->module->device ? 1 : -1;
	return (x->smid > y->smid) - (x->smid < y->smid);
}

static int accesses_compare(const void *a, const void *b)
{
	const struct track *x = a, *y = b;
	int order = compare_sm(x, y);

	return order ? order : (x->slot > y->slot) - (x->slot < y->slot);
}

static struct track track_of(const struct gpu_access *a)
{
	return (struct track){ .module = a->module, .smid = a->record.smid, .slot = a->record.warp >> 16 };
}

static bool has_times(const struct gpu_access *a)
{
	return a->start_ns != NO_VALUE && a->end_ns != NO_VALUE && a->end_ns >= a->start_ns;
}

/* Returns the tracks, sorted, each once. */
static struct track *find_tracks(const struct gpu_access *accesses, size_t n, size_t *num)
{
	struct track *all = xcalloc(n + 1, sizeof(*all));
	size_t total = 0;

	for (size_t i = 0; i < n; i++)
		if (has_times(&accesses[i]))
			all[total++] = track_of(&accesses[i]);
	qsort(all, total, sizeof(*all), accesses_compare);
	*num = 0;
	for (size_t i = 0; i < total; i++)
		if (!i || accesses_compare(&all[*num - 1], &all[i]))
			all[(*num)++] = all[i];
	for (size_t i = 0; i < *num; i++)
		all[i].pid = i ? all[i - 1].pid + !!compare_sm(&all[i - 1], &all[i]) : 1;
	return all;
}

static void name_tracks(struct chrome *c, const struct track *tracks, size_t n)
{
	const struct track *last = n ? &tracks[n - 1] : NULL;

	for (size_t i = 0; i < n; i++) {
		const struct track *t = &tracks[i];
		char name[96];

		if (!i || t->pid != t[-1].pid) {
			if (!compare_sm(&(struct track){ .module = tracks->module, .smid = 0 },
					&(struct track){ .module = last->module, .smid = 0 }))
				snprintf(name, sizeof(name), "SM %u", t->smid);
			else
				snprintf(name, sizeof(name), "%s (%d), device %d, SM %u", t->module->process->comm,
					 t->module->process->pid, t->module->device, t->smid);
			chrome_name(c, t->pid, 0, name);
		}
		snprintf(name, sizeof(name), "warp slot %u", t->slot);
		chrome_name(c, t->pid, t->slot + 1, name);
	}
}

static void draw(struct chrome *c, const struct gpu_access *a, const struct track *t, const char *kernel,
		 unsigned long long zero)
{
	const struct gpu_record *r = &a->record;
	const struct site *site = &a->module->code->sites.site[r->site];

	chrome_event(c);
	fputs("\"name\":", c->file);
	if (strcmp(site->kind, "kernel")) {
		char name[64];

		snprintf(name, sizeof(name), "%s %s", site->space, site->kind);
		escape_json(c->file, name);
	} else {
		escape_json(c->file, kernel);
	}
	fputs(",\"cat\":", c->file);
	escape_json(c->file, site->kind);
	fprintf(c->file, ",\"ph\":\"X\",\"pid\":%d,\"tid\":%u", t->pid, t->slot + 1);
	chrome_us(c, "ts", a->start_ns - zero);
	chrome_us(c, "dur", a->end_ns - a->start_ns);
	fputs(",\"args\":{\"kernel\":", c->file);
	escape_json(c->file, kernel);
	fputs(",\"op\":", c->file);
	escape_json(c->file, site->op);
	if (site->file) {
		fputs(",\"file\":", c->file);
		escape_json(c->file, site->file);
		fprintf(c->file, ",\"line\":%u", site->line);
	}
	fprintf(c->file, ",\"launch\":%u,\"block\":%u,\"warp\":%u,\"cycles\":%u}}", a->launch, r->block,
		r->warp & 0xffff, r->value);
}

void gantt_draw(struct chrome *c, const struct gpu_access *accesses, size_t n, struct kernels *kernels)
{
	unsigned long long zero = NO_VALUE;
	size_t num;
	struct track *tracks = find_tracks(accesses, n, &num);

	for (size_t i = 0; i < n; i++)
		if (has_times(&accesses[i]) && accesses[i].start_ns < zero)
			zero = accesses[i].start_ns;
	name_tracks(c, tracks, num);
	for (size_t i = 0; i < n; i++) {
		const struct gpu_access *a = &accesses[i];
		const struct track key = track_of(a);

		if (has_times(a))
			draw(c, a, bsearch(&key, tracks, num, sizeof(*tracks), accesses_compare),
			     kernels_get(kernels, a->module->code->sites.site[a->record.site].kernel)->name, zero);
	}
	free(tracks);
}
