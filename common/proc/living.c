/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "proc/living.h"

/* A debugger can keep threads that have ended. */
enum { MAX_THREADS = 4096 };

/* A task without memory has no program: it has ended, or is the kernel's. */
static bool has_program(int tid)
{
	char name[32], c;

	snprintf(name, sizeof(name), "/proc/%d/exe", tid);
	return readlink(name, &c, 1) >= 0 || errno != ENOENT;
}

int proc_living(int pid)
{
	char name[32];
	struct dirent *e;
	int living = 0;
	DIR *dir;

	if (has_program(pid))
		return pid;
	snprintf(name, sizeof(name), "/proc/%d/task", pid);
	dir = opendir(name);
	for (int n = 0; dir && !living && n < MAX_THREADS && (e = readdir(dir)); n++) {
		int tid = isdigit((unsigned char)*e->d_name) ? atoi(e->d_name) : 0;

		if (tid && tid != pid && has_program(tid))
			living = tid;
	}
	if (dir)
		closedir(dir);
	return living ? living : pid;
}

bool proc_is_leaderless(int pid)
{
	return proc_living(pid) != pid;
}
