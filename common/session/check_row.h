/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What --check checks, one at a time.  Private to check.c and check_*.c. */
#ifndef CHECK_ROW_H
#define CHECK_ROW_H
#include "session/filter.h"

struct looks;

enum verdict { OK, LIMITED, MISSING };

struct check_row {
	const char *check, *verdict;
	char *text;
	struct looks *looks;
	const struct filter_options *filter;
	struct filter selected;
	const char *no_filter;	/* why there is no such cgroup */
};

/* Each returns its verdict, and sets r->text, which the caller frees: what there is, or what is missing and
 * what to do. */

/* The kernel. */
enum verdict check_kernel(struct check_row *r);
enum verdict check_types(struct check_row *r);
enum verdict check_attach(struct check_row *r);
enum verdict check_buffer(struct check_row *r);
enum verdict check_lockdown(struct check_row *r);
enum verdict check_returns(struct check_row *r);
enum verdict check_stacks(struct check_row *r);

/* The user, and the processes that can be traced. */
enum verdict check_privileges(struct check_row *r);
enum verdict check_processes(struct check_row *r);
enum verdict check_cgroups(struct check_row *r);
enum verdict check_cuda(struct check_row *r);

#endif
