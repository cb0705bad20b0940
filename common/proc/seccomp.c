/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "proc/seccomp.h"

/* A process could have so many that reading of them takes long. */
enum { MAX_THREADS = 4096, MODE_FILTER = 2 };

static bool thread_has_filter(int pid, const char *tid)
{
	char *name = xprintf("/proc/%d/task/%s/status", pid, tid), line[256];
	FILE *f = fopen(name, "re");
	int mode = 0;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "Seccomp:", 8))
			mode = atoi(line + 8);
	if (f)
		fclose(f);
	free(name);
	return mode == MODE_FILTER;
}

bool proc_has_filter(int pid)
{
	char *name = xprintf("/proc/%d/task", pid);
	DIR *dir = opendir(name);
	struct dirent *e;
	bool has = false;
	int n = 0;

	while (dir && !has && (e = readdir(dir)))
		if (isdigit((unsigned char)*e->d_name))
			has = ++n > MAX_THREADS || thread_has_filter(pid, e->d_name);
	if (dir)
		closedir(dir);
	free(name);
	return has;
}
