/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "base/escape.h"
#include "base/util.h"
#include "cudamemtime/gantt.h"
#include "cudamemtime/site_row.h"

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

static int compare(const void *a, const void *b)
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
	qsort(all, total, sizeof(*all), compare);
	*num = 0;
	for (size_t i = 0; i < total; i++)
		if (!i || compare(&all[*num - 1], &all[i]))
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
			draw(c, a, bsearch(&key, tracks, num, sizeof(*tracks), compare),
			     kernels_get(kernels, a->module->code->sites.site[a->record.site].kernel)->name, zero);
	}
	free(tracks);
}
