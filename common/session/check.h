/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* --check: what this machine, its kernel and the user allow. */
#ifndef CHECK_H
#define CHECK_H

struct filter_options;
struct looks;

/* Prints a row for each thing that is needed or of use.  Returns the status to exit with: 1 if something
 * is missing without which no tool works, or the filter's cgroup. */
int check_machine(struct looks *l, const struct filter_options *filter);

#endif
