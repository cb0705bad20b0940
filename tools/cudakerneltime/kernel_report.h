/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Sums of the runs of each kernel, and the tables of these. */
#ifndef CUDAKERNELTIME_KERNEL_REPORT_H
#define CUDAKERNELTIME_KERNEL_REPORT_H
#include "base/hash.h"
#include "cudakerneltime/runs.h"
#include "kernels/kernel_name.h"
#include "kernels/short_name.h"
#include "sym/demangle.h"

struct stack;

/* Of all runs of a row; times in ns. */
struct block_sums {
	unsigned long long count, total, min, max;
	double p50, p95, p99, slowest;	/* sums of each run's values */
};

struct kernel_row {
	struct kernel_key {
		const struct site *site;
		const struct stack *stack;	/* of the calls, with -k; or NULL */
	} key;
	struct time_steps runs;
	struct block_sums blocks;
	UT_hash_handle hh;
};

/* Rows of 3 KiB each. */
enum { KERNEL_ROWS_MAX = 20000 };

/* Starts zeroed. */
struct kernel_rows {
	struct kernel_row *row;
	unsigned long long refused;	/* runs beyond KERNEL_ROWS_MAX kernels */
};

/* Starts zeroed. */
struct kernel_report {
	bool full;		/* names with parameters */
	int names;		/* --kernel-names: enum kernel_style; -1: short in text, brief in files */
	bool stacks;		/* rows have call sites */
	long rows;		/* the limit; 0: 20, as JSON all */
	bool reported;
	struct demangler demangler;
	char short_name[SHORT_NAME_SIZE];
};

void kernel_rows_add(struct kernel_rows *rows, const struct kernel_run *run, const struct stack *stack);

/* Removes all rows. */
void kernel_rows_clear(struct kernel_rows *rows);

/* Prints a table of runs and one of their blocks, or a JSON object for each row.  Without rows prints nothing, unless
 * always. */
void kernel_report(struct kernel_report *report, const struct kernel_rows *rows, bool always);

/* Returns the name of a kernel, for text or for files; valid until the next call. */
const char *kernel_report_name(struct kernel_report *report, const struct site *site, bool text);

#endif
