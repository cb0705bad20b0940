/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The GPUs with their last minutes: as NVML reports them or, without it, as programs number them, by their GPU time. */
#ifndef CUDATOP_GPU_ROWS_H
#define CUDATOP_GPU_ROWS_H
#include <stdbool.h>
#include <stdio.h>
#include "cudatop/spark.h"
#include "nvml/nvml.h"

struct top_rows;

struct top_gpu {
	bool seen;
	char name[NVML_NAME];		/* "": unknown */
	double busy;			/* share of the time, 0 to 1; NAN: unknown */
	unsigned long long used, total;	/* bytes; total 0: unknown */
	struct spark was_busy, was_used;	/* shares of the time and of total */
};

struct top_gpus {			/* starts zeroed */
	bool nvml;			/* it has answered */
	struct top_gpu *all;
	size_t n;
};

/* Call after top_rows_gather(). */
void top_gpus_add(struct top_gpus *g, const struct top_rows *rows);

/* Returns how many lines there are, at most max: the last one may print how many GPUs more there are. */
size_t top_gpus_lines(const struct top_gpus *g, size_t max);

/* Prints line i of them in so many columns. */
void top_gpus_print(const struct top_gpus *g, FILE *f, size_t i, size_t lines, int columns);

void top_gpus_free(struct top_gpus *g);

#endif
