/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "proc/living.h"
#include "proc/user.h"

/* The user who is responsible for a process. */

/* Nesting is limited to 32 (user_namespaces(7)). */
enum { MAX_LEVELS = 40 };

static ino_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

unsigned proc_real_user(int pid)
{
	char line[256], *text = proc_status(proc_living(pid), "Uid", line, sizeof(line));

	return text ? strtoul(text, NULL, 10) : USER_UNKNOWN;
}

/* Returns the owner of the outermost namespace below ours around ns; closes ns. */
static unsigned outermost_owner(int ns, ino_t ours)
{
	uid_t owner = USER_UNKNOWN;
	int parent = -1;

	for (int i = 0; i < MAX_LEVELS && ns >= 0 && inode_of(ns) != ours; i++) {
		if (ioctl(ns, NS_GET_OWNER_UID, &owner))
			owner = USER_UNKNOWN;
		parent = ioctl(ns, NS_GET_PARENT);	/* EPERM outside ours */
		close(ns);
		ns = parent;
	}
	if (ns >= 0)
		close(ns);
	return owner;
}

unsigned proc_user(int pid)
{
	char name[32];
	struct stat ours;
	int ns;

	snprintf(name, sizeof(name), "/proc/%d/ns/user", proc_living(pid));
	ns = open(name, O_RDONLY | O_CLOEXEC);
	if (ns < 0 || stat("/proc/self/ns/user", &ours) || inode_of(ns) == ours.st_ino) {
		if (ns >= 0)
			close(ns);
		return proc_real_user(pid);
	}
	return outermost_owner(ns, ours.st_ino);
}
