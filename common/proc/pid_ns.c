/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/die.h"
#include "proc/living.h"
#include "proc/pid_ns.h"
#include "proc/proc.h"

enum { MANY = 8 };

struct search {
	int inner, n;
	char *found;
};

enum { LINE = 512 };

/* Returns where in the line the process's pids begin, from our namespace to the innermost: "NSpid:	4711	17	1"; NULL if it is
 * gone. */
static const char *read_pids(int pid, char line[LINE])
{
	return proc_status(pid, "NSpid", line, LINE);
}

int pid_in_namespace(int pid)
{
	char line[LINE];
	const char *number = read_pids(pid, line), *last = number;

	while (number && (number = strchr(number + 1, '\t')))
		last = number;
	return last ? atoi(last) : 0;
}

/* Return true if the process has this pid in a namespace other than ours. */
static bool has_inner(int pid, int inner)
{
	char line[LINE];
	const char *number = read_pids(pid, line);

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
