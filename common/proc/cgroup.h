/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Cgroups of version 2, by path, by id and by the container that they belong to. */
#ifndef PROC_CGROUP_H
#define PROC_CGROUP_H
#include <stdbool.h>

enum { CGROUP_CONTAINER = 65, CGROUP_POD = 37, CGROUP_JOB = 21 };

struct cgroup_names {			/* "" each if it is in none */
	char container[CGROUP_CONTAINER];	/* the id of the innermost one, 64 digits */
	char pod[CGROUP_POD];		/* the uid of the innermost pod: 8-4-4-4-12 digits; of a static one 32 */
	char job[CGROUP_JOB];		/* the number of the innermost Slurm job */
};

struct cgroup { unsigned long long id; unsigned int level; };	/* level: its depth, 0 is the root */

/* Each returns NULL and sets *cgroup, or returns why there is no such cgroup: a static text. */

/* Sets id to the first 12 digits of the id of the container that the process is in, the innermost one, by the name
 * of its cgroup; they are what --container and docker ps take and print.  Returns false if it is in none, or gone. */
enum { CONTAINER_ID = 13 };
bool cgroup_container(int pid, char id[CONTAINER_ID]);

/* A path below the mount point, or with it, or the cgroup's id as a number. */
const char *cgroup_find(const char *name, struct cgroup *cgroup);

/* The outermost cgroup whose name has the container's id, or its first 8 digits or more, as runtimes name
 * them: docker-ID.scope, cri-containerd-ID.scope, libpod-ID.scope, ID. */
const char *cgroup_of_container(const char *id, struct cgroup *cgroup);

/* Returns where they are mounted, static; NULL if they are not. */
const char *cgroup_mount(void);

/* Return true if the process is in the cgroup of this id, or below it. */
bool cgroup_has(unsigned long long id, int pid);

/* Parses the text of a /proc/PID/cgroup, of either version.  Of several lines the first one that has an item counts
 * for it. */
void cgroup_names_parse(const char *text, struct cgroup_names *names);

/* The same for a process.  Returns false if it is gone. */
bool cgroup_names(int pid, struct cgroup_names *names);

#endif
