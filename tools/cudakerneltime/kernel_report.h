/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints what the launches of each kernel add up to. */
#ifndef KERNEL_REPORT_H
#define KERNEL_REPORT_H
#include "cudakerneltime/kernel_rows.h"
#include "sym/demangle.h"

/* Starts zeroed. */
struct kernel_report {
	bool full;		/* names with parameters */
	bool stacks;		/* rows have call sites */
	long rows;		/* at most so many; 0: 20, all of them as JSON */
	bool reported;
	struct demangler names;
};

/* Prints a table of launches and one of their blocks, as text, or a JSON object for each row.  Nothing if there are no
 * rows, unless always. */
void kernel_report(struct kernel_report *report, const struct kernel_rows *rows, bool always);

/* Returns the name of a kernel as it is shown; valid until the next call. */
const char *kernel_report_name(struct kernel_report *report, const struct site *site);

#endif
