/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* --csv: a line for each run, RFC 4180.  --chrome: a timeline of the runs on each device and of the blocks on each SM
 * (view/chrome.h). */
#ifndef CUDAKERNELTIME_EXPORT_H
#define CUDAKERNELTIME_EXPORT_H
#include <stdio.h>
#include "cudakerneltime/kernel_report.h"
#include "cudakerneltime/runs.h"
#include "view/chrome.h"

/* Opens the file (out_file_stream()) and writes the header line. */
FILE *run_csv_open(const char *path);
void run_csv_add(FILE *f, const struct kernel_run *run, const char *name);

/* Draws the list; report names the kernels. */
void chrome_runs(struct chrome *chrome, const struct run_list *list, struct kernel_report *report);

#endif
