/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What sites counted, in all processes and contexts that had the same code. */
#ifndef GPUPROBE_TOTALS_H
#define GPUPROBE_TOTALS_H
#include "base/log2_hist.h"
#include "model/gpuprobe_modules.h"

/* Returns the sites that counted anything, in the order of codes and sites; the caller frees them.  Sites of one
 * kernel need not follow each other. */
struct gpuprobe_total *gpuprobe_totals(const struct gpuprobe_modules *m, size_t *n);

/* Spreads a histogram over the slots of base/log2_hist.h. */
void gpuprobe_sum_slots(const struct gpuprobe_sum *sum, unsigned long long slots[HIST_SLOTS]);

#endif
