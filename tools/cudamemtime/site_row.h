/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A site with its histogram, as text and JSON. */
#ifndef SITE_ROW_H
#define SITE_ROW_H
#include <stdio.h>
#include "base/log2_hist.h"
#include "cudamemtime/kernels.h"
#include "model/gpuprobe_totals.h"

struct site_row {
	unsigned long long time;
	const struct site *site;
	const char *kernel, *symbol, *file, *kind, *space, *op;
	unsigned long long line, bytes, count, cycles, ns;
	struct hist_spread spread;
	unsigned long long slots[HIST_SLOTS];
	const unsigned long long *hist;		/* = slots */
};

void site_row(struct site_row *row, const struct gpuprobe_total *total, const struct kernel *kernel,
	      unsigned long long time);

/* Prints it; in text after the kernel's name if it is the first of it. */
void site_row_print(const struct site_row *row, bool first);

/* Prints "file:line" or "-", without folders. */
void site_place(FILE *f, const struct site *site);

#endif
