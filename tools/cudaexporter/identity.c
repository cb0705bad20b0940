/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cudaexporter/identity.h"
#include "proc/proc.h"
#include "proc/users.h"

/* What the kernel appends to the path of a file that has no name any more. */
static void drop_deleted(char *path, size_t n)
{
	static const char deleted[] = " (deleted)";
	const size_t len = sizeof(deleted) - 1;

	if (n > len && !strcmp(path + n - len, deleted))
		path[n - len] = '\0';
}

/* Copies the end of a path, from the beginning of a UTF-8 character on. */
static void copy_end(char *to, const char *path, size_t size)
{
	size_t n = strlen(path);

	if (n >= size)
		path += n - (size - 1);
	while (n >= size && (*path & 0xc0) == 0x80)
		path++;
	memcpy(to, path, strlen(path) + 1);
}

static void read_exe(int pid, char exe[IDENTITY_EXE])
{
	char name[32], path[PATH_MAX];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/exe", pid);
	n = readlink(name, path, sizeof(path) - 1);
	if (n <= 0)
		return;
	path[n] = '\0';
	drop_deleted(path, n);
	copy_end(exe, path, IDENTITY_EXE);
}

void identity_read(int pid, struct identity *id)
{
	*id = (struct identity){ .uid = proc_real_user(pid) };
	if (!proc_comm(pid, id->comm))
		*id->comm = '\0';
	read_exe(pid, id->exe);
	cgroup_names(pid, &id->in);
}
