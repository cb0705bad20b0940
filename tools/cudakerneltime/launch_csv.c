/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/csv_text.h"
#include "cli/out_file.h"
#include "cudakerneltime/launch_csv.h"

void launch_csv_open(struct launch_csv *csv, const char *path)
{
	csv->path = path;
	csv->file = fdopen(out_file_open(path), "w");
	if (!csv->file)
		die(errno, "cannot open %s", path);
	fputs("pid,device,context,grid,kernel,start_ns,end_ns,ns,blocks,block_total_ns,block_min_ns,block_p50_ns,"
	      "block_p95_ns,block_p99_ns,block_max_ns\n", csv->file);
}

void launch_csv_add(struct launch_csv *csv, const struct kernel_launch *l, const char *name)
{
	const struct gpu_launch *g = &l->gpu;
	FILE *f = csv->file;

	fprintf(f, "%d,%d,%u,%llu,", l->module->process->pid, l->module->device, l->module->context, g->grid);
	csv_text(f, name);
	fprintf(f, ",%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu\n", g->start, g->end, g->end - g->start,
		g->blocks, g->sum, g->min, l->p50, l->p95, l->p99, g->max);
}

bool launch_csv_close(struct launch_csv *csv)
{
	bool failed = ferror(csv->file);

	if (!fclose(csv->file) && !failed)
		return true;
	warning(errno, "cannot write to %s", csv->path);
	return false;
}
