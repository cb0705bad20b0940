/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

char *proc_status(int tid, const char *field, char *line, size_t size)
{
	bool found = false, begins = true;
	size_t n = strlen(field);
	char name[32];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/status", tid);
	f = fopen(name, "re");
	while (f && !found && fgets(line, size, f)) {	/* a line of groups may be long */
		found = begins && !strncmp(line, field, n) && line[n] == ':';
		begins = strchr(line, '\n');
	}
	if (f)
		fclose(f);
	return found ? line + n + 1 : NULL;
}
