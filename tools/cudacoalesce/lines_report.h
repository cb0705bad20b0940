/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints how many lines and sectors of memory warps touch in each access. */
#ifndef LINES_REPORT_H
#define LINES_REPORT_H
#include "model/gpuprobe_modules.h"
#include "sym/demangle.h"

/* Starts zeroed but for below. */
struct lines_report {
	long below;		/* percent: sites that are as efficient are left out */
	bool hist;		/* in text, too */
	struct demangler names;
};

/* Prints a row for each site, those that waste the most memory traffic first. */
void lines_report(struct lines_report *report, const struct gpuprobe_modules *m);

#endif
