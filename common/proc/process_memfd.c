/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/die.h"
#include "base/util.h"
#include "proc/living.h"
#include "proc/proc.h"
#include "proc/process_memfd.h"
#include "proc/signals.h"

/* Of a process: descriptors that are looked at, and those of them with our name. */
enum { DESCRIPTORS = 4096, CANDIDATES = 8 };

/* Returns the number of the mount that a descriptor of ours is in, which a process's own file system does not share with
 * memfds; -1: not known.  Unlike fstat(2), this asks no file system: it could be the process's own, and never answer. */
static long long mount_of(int fd)
{
	char path[40], line[128];
	long long id = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "mnt_id: %lld", &id) != 1)
		;
	if (f)
		fclose(f);
	return id;
}

/* Return true if a memfd is the process's user's, of the right size, and stays so. */
static bool is_safe(int fd, const struct proc_rights *rights, long bytes)
{
	const int must = F_SEAL_SHRINK | F_SEAL_GROW, not = F_SEAL_WRITE | F_SEAL_FUTURE_WRITE;
	struct stat st;
	int seals;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size != bytes)
		return false;
	seals = fcntl(fd, F_GET_SEALS);
	return (st.st_uid == rights->uid || st.st_uid == rights->effective) && seals >= 0 && (seals & must) == must && !(seals & not);
}

/* Return true if a descriptor of a process is a memfd of that name. */
static bool is_named(int dir, const char *descriptor, const char *name)
{
	char link[NAME_MAX], is[NAME_MAX];
	ssize_t n = readlinkat(dir, descriptor, link, sizeof(link));

	return n == snprintf(is, sizeof(is), "/memfd:%s (deleted)", name) && !memcmp(link, is, n);
}

/* Opens it, if it is one; -1: it is not.  Another kind of file is not opened: it could wait. */
static int open_memory(long long mount, int dir, const char *name, const struct proc_rights *rights, long bytes)
{
	int path = openat(dir, name, O_PATH | O_CLOEXEC), fd = -1;
	char self[32];

	if (path >= 0 && mount >= 0 && mount_of(path) == mount) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", path);
		fd = open(self, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	}
	if (path >= 0)
		close(path);
	if (fd < 0 || is_safe(fd, rights, bytes))
		return fd;
	close(fd);
	return -1;
}

int process_memfd_open(int pid, long long mount, const char *name, long bytes)
{
	struct proc_rights rights;
	int fd = -1, candidates = 0;
	struct dirent *d;
	char *path;
	DIR *dir;

	if (!proc_rights(pid, &rights))
		return -1;
	path = xprintf("/proc/%d/fd", proc_living(pid));
	dir = opendir(path);
	free(path);
	if (!dir)
		return -1;
	for (int i = 0; fd < 0 && i < DESCRIPTORS && candidates < CANDIDATES && !signal_caught() && (d = readdir(dir)); i++) {
		if (!is_named(dirfd(dir), d->d_name, name))
			continue;
		candidates++;
		fd = open_memory(mount, dirfd(dir), d->d_name, &rights, bytes);
	}
	closedir(dir);
	return fd;
}

long long process_memfd_mount(void)
{
	int fd = memfd_create("", MFD_CLOEXEC);
	long long mount;

	if (fd < 0)
		die(errno, "memfd_create");
	mount = mount_of(fd);
	close(fd);
	return mount;
}
