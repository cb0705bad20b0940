/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the names of a process's cgroups say of it: the container, the pod and the Slurm job that it is in.
 * Who may make cgroups chooses their names, so this is what the process's cgroups claim. */
#ifndef CGROUP_NAME_H
#define CGROUP_NAME_H
#include <stdbool.h>

enum { CGROUP_CONTAINER = 65, CGROUP_POD = 37, CGROUP_JOB = 21 };

struct cgroup_names {			/* "" each if it is in none */
	char container[CGROUP_CONTAINER];	/* the id of the innermost one, 64 digits */
	char pod[CGROUP_POD];		/* the uid of the innermost pod: 8-4-4-4-12 digits; of a static one 32 */
	char job[CGROUP_JOB];		/* the number of the innermost Slurm job */
};

/* Parses the text of a /proc/PID/cgroup, of either version.  Of several lines the first one that has an item counts
 * for it. */
void cgroup_names_parse(const char *text, struct cgroup_names *names);

/* The same for a process.  Returns false if it is gone. */
bool cgroup_names(int pid, struct cgroup_names *names);

#endif
