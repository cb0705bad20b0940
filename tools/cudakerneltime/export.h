/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* --csv: a line for each run, RFC 4180.  --chrome: a timeline of the runs on each device and of the blocks on each SM
 * (view/chrome.h). */
#ifndef EXPORT_H
#define EXPORT_H
#include <stdbool.h>
#include <stdio.h>
#include "cudakerneltime/report.h"
#include "cudakerneltime/runs.h"
#include "view/chrome.h"

/* Starts zeroed. */
struct run_csv {
	FILE *file;		/* NULL: not open */
	const char *path;
};

/* Opens the file (cli/out_file.h) and writes the header line; exits 1 on an error. */
void run_csv_open(struct run_csv *csv, const char *path);

void run_csv_add(struct run_csv *csv, const struct kernel_run *run, const char *name);

/* On a write error warns and returns false. */
bool run_csv_close(struct run_csv *csv);

/* Draws the list; report names the kernels. */
void chrome_runs(struct chrome *chrome, const struct run_list *list, struct kernel_report *report);

#endif
