/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints what sites counted: a histogram each, kernels with the most cycles first, and in them sites. */
#ifndef SITE_REPORT_H
#define SITE_REPORT_H
#include "cudamemtime/kernels.h"
#include "model/gpuprobe_modules.h"

/* Prints all that was counted so far, as text or JSON. */
void site_report(const struct gpuprobe_modules *m, struct kernels *kernels);

#endif
