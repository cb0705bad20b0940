/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A line of comma-separated values for each launch, RFC 4180. */
#ifndef LAUNCH_CSV_H
#define LAUNCH_CSV_H
#include <stdbool.h>
#include <stdio.h>
#include "cudakerneltime/launch_join.h"

/* Starts zeroed. */
struct launch_csv {
	FILE *file;		/* NULL: not open */
	const char *path;
};

/* Opens the file (cli/out_file.h) and writes the heads; exits 1 if it cannot. */
void launch_csv_open(struct launch_csv *csv, const char *path);

void launch_csv_add(struct launch_csv *csv, const struct kernel_launch *launch, const char *name);

/* On a write error warns and returns false. */
bool launch_csv_close(struct launch_csv *csv);

#endif
