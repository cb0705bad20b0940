/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Records of accesses as comma-separated values, RFC 4180: a line of names, then a line each. */
#ifndef CSV_H
#define CSV_H
#include <stdio.h>
#include "cudamemtime/kernels.h"
#include "cudamemtime/accesses.h"

/* Opens the file (cli/out_file.h); exits 1 if it cannot. */
FILE *csv_open(const char *path);

/* Writes all and closes the file.  On a write error warns and returns false. */
bool csv_write(FILE *f, const char *path, const struct gpu_access *accesses, size_t n, struct kernels *kernels);

#endif
