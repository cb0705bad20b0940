/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* --check: what this machine, its kernel and the user allow. */
#ifndef SESSION_DOCTOR_H
#define SESSION_DOCTOR_H

struct filter_options;
struct helper_pool;

/* Prints a row for each thing that is needed or of use.  pids: 0-terminated, for a row on what probes do to these
 * processes; NULL: no row.  Returns the status to exit with: 1 if something
 * is missing without which no tool works, or the filter's cgroup. */
int check_machine(struct helper_pool *l, const struct filter_options *filter, const int *pids);

#endif
