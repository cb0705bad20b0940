/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "proc/living.h"
#include "proc/proc_root.h"

/* openat2() fails with EAGAIN if something was renamed meanwhile and a ".." came after. */
enum { TRIES = 8 };

static int root_of(int pid)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/root", proc_living(pid));
	return open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int open_below(int root, const char *path, int flags, unsigned long long resolve)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve,
	};
	int fd = -1;

	for (int i = 0; i < TRIES; i++) {
		fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd < 0 ? -errno : fd;
}

/* Closes what is no regular file. */
static int regular(int fd)
{
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -EINVAL;
	}
	return fd;
}

int proc_root_open(int pid, const char *path, bool follow)
{
	int root = root_of(pid), fd = root < 0 ? -errno : open_below(root, path, follow ? 0 : O_NOFOLLOW, 0);

	if (root >= 0)
		close(root);
	return regular(fd);
}

int proc_root_open_mapped(int pid, const char *path)
{
	char name[32], root[PATH_MAX];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/root", proc_living(pid));
	n = readlink(name, root, sizeof(root));
	if (n > 1 && n < (ssize_t)sizeof(root) && !strncmp(path, root, n) && path[n] == '/')
		path += n;
	return proc_root_open(pid, path, true);
}

int proc_root_open_in(int pid, const char *dir, const char *name)
{
	int root = root_of(pid), at = root < 0 ? -errno : open_below(root, dir, O_DIRECTORY, 0);
	int fd = at < 0 ? at : open_below(at, name, O_NOFOLLOW, RESOLVE_NO_XDEV);

	if (root >= 0)
		close(root);
	if (at >= 0)
		close(at);
	return regular(fd);
}

int proc_inner_pid(int pid)
{
	char line[512], *text = proc_status(pid, "NStgid", line, sizeof(line));
	int inner = 0, n;

	while (text && sscanf(text, "%d%n", &inner, &n) == 1)	/* the last is the innermost */
		text += n;
	return inner;
}
