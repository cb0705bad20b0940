/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What --check checks, one at a time.  Private to check.c and check_*.c. */
#ifndef DOCTOR_ROW_H
#define DOCTOR_ROW_H
#include "session/filter.h"

struct helper_pool;

enum verdict { OK, LIMITED, MISSING };

struct doctor_row {
	const char *check, *verdict;
	char *text;
	struct helper_pool *helpers;
	const struct filter_options *filter;
	struct filter selected;
	const char *no_filter;	/* why there is no such cgroup */
};

/* Each returns its verdict, and sets r->text, which the caller frees: what there is, or what is missing and
 * what to do. */

/* The kernel. */
enum verdict doctor_linux(struct doctor_row *r);
enum verdict check_types(struct doctor_row *r);
enum verdict check_attach(struct doctor_row *r);
enum verdict check_buffer(struct doctor_row *r);
enum verdict check_lockdown(struct doctor_row *r);
enum verdict check_returns(struct doctor_row *r);
enum verdict check_stacks(struct doctor_row *r);

/* The user, and the processes that can be traced. */
enum verdict check_privileges(struct doctor_row *r);
enum verdict doctor_processes(struct doctor_row *r);
enum verdict check_cgroups(struct doctor_row *r);
enum verdict check_cuda(struct doctor_row *r);

#endif
