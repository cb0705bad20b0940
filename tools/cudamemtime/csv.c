/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include "base/csv_text.h"
#include "base/util.h"
#include "cli/out_file.h"
#include "cudamemtime/csv.h"

FILE *csv_open(const char *path)
{
	FILE *f = fdopen(out_file_open(path), "w");

	if (!f)
		die(errno, "cannot open %s", path);
	return f;
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
	bool failed;

	fputs("launch,kernel,block,warp,sm,slot,site,file,line,kind,space,op,start_ns,end_ns,start_clock,cycles\n", f);
	for (size_t i = 0; i < n; i++) {
		const struct gpu_access *a = &accesses[i];
		const char *its = a->module->code->sites.site[a->record.site].kernel;

		if (its != symbol)
			name = kernels_get(kernels, its)->name;
		symbol = its;
		line(f, a, name);
	}
	failed = ferror(f);
	if (!fclose(f) && !failed)
		return true;
	warning(errno, "cannot write to %s", path);
	return false;
}
