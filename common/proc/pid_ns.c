/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/die.h"
#include "proc/pid_ns.h"
#include "proc/proc.h"

enum { MANY = 8 };

struct search {
	int inner, n;
	char *found;
};

/* Return true if the process has this pid in a namespace other than ours.
 * "NSpid:	4711	17	1": its pids from our namespace to the innermost. */
static bool has_inner(int pid, int inner)
{
	char name[32], line[512] = "";
	const char *number;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/status", pid);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f) && strncmp(line, "NSpid:", 6))
		;
	if (f)
		fclose(f);
	number = strncmp(line, "NSpid:", 6) ? NULL : strchr(line, '\t');
	while (number && (number = strchr(number + 1, '\t')))
		if (atoi(number) == inner)
			return true;
	return false;
}

static void look(void *ctx, int pid)
{
	struct search *s = ctx;
	char *longer;

	if (s->n == MANY || !has_inner(pid, s->inner))
		return;
	s->n++;
	longer = s->found ? xprintf("%s or %d", s->found, pid) : xprintf("%d", pid);
	free(s->found);
	s->found = longer;
}

char *pid_outside(int inner)
{
	struct search s = { .inner = inner };

	proc_each(look, &s);
	return s.found;
}

/* The inode number of the initial namespace is fixed (include/linux/proc_ns.h). */
bool pid_ns_is_initial(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino == 0xeffffffc;
}
