/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "elf/elf_debug.h"
#include "proc/proc.h"
#include "proc/proc_root.h"
#include "sym/debug_file.h"

static const char DIR[] = "/usr/lib/debug/.build-id/", DWZ[] = "/usr/lib/debug/.dwz/";

enum { MAX_PATH = 512, LEAST_ID = 2 };

static void debug_file_name_of(const struct elf_debug *d, char *name)
{
	name += sprintf(name, "%s", DIR);
	for (size_t i = 0; i < d->id_size; i++)
		name += sprintf(name, i == 1 ? "/%02x" : "%02x", d->id[i]);
	strcpy(name, ".debug");
}

/* Whoever could write to the file may say what its functions are called. */
static bool is_as_good(int theirs, int fd)
{
	struct stat a, b;

	return !fstat(theirs, &a) && !fstat(fd, &b) && a.st_dev == b.st_dev &&
	       (a.st_uid == b.st_uid || !a.st_uid);
}

static int open_theirs(int pid, int fd, const char *name)
{
	int path = proc_root_open(pid, name + 1, true), real;

	if (path < 0)
		return path;
	real = is_as_good(path, fd) ? proc_reopen(path) : -EPERM;
	close(path);
	return real;
}

static int debug_file_check(int fd, const struct elf_debug *want)
{
	struct elf_debug d;

	if (fd < 0)
		return fd;
	if (elf_debug_read(fd, &d) && elf_debug_same(&d, want))
		return fd;
	close(fd);
	return -ENOENT;
}

static int open_either(int pid, int fd, const char *name, const struct elf_debug *want)
{
	int found = debug_file_check(proc_open_file(name), want);

	if (found < 0)
		found = debug_file_check(open_theirs(pid, fd, name), want);
	return found < 0 ? -ENOENT : found;
}

int debug_file_open(int pid, int fd, const struct elf_debug *d)
{
	char name[MAX_PATH];

	if (d->id_size < LEAST_ID)
		return -ENOENT;
	debug_file_name_of(d, name);
	return open_either(pid, fd, name, d);
}

int debug_file_open_alt(int pid, int fd, const char *name, const void *id, size_t size)
{
	struct elf_debug want = { .id_size = size };
	int found;

	if (size > sizeof(want.id))
		return -ENOENT;
	memcpy(want.id, id, size);
	found = debug_file_open(pid, fd, &want);
	if (found < 0 && !strncmp(name, DWZ, sizeof(DWZ) - 1) && !strstr(name, "/../"))
		found = open_either(pid, fd, name, &want);
	return found;
}
