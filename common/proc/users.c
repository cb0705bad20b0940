/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/hash.h"
#include "proc/users.h"

/* Who is responsible for a process. */

/* Nesting is limited to 32 (user_namespaces(7)). */
enum { MAX_LEVELS = 40 };

static ino_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

unsigned proc_real_user(int pid)
{
	unsigned user = USER_UNKNOWN;
	char name[32], line[256];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/status", pid);
	f = fopen(name, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %u", &user) == 1)
			break;
	if (f)
		fclose(f);
	return user;
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

	snprintf(name, sizeof(name), "/proc/%d/ns/user", pid);
	ns = open(name, O_RDONLY | O_CLOEXEC);
	if (ns < 0 || stat("/proc/self/ns/user", &ours) || inode_of(ns) == ours.st_ino) {
		if (ns >= 0)
			close(ns);
		return proc_real_user(pid);
	}
	return outermost_owner(ns, ours.st_ino);
}

/* If the ends of so many went unseen, all are looked up again. */
enum { MAX_KEPT = 32768 };

struct user_of {
	int pid;
	unsigned user;
	UT_hash_handle hh;
};

static struct user_of *find(const struct users *users, int pid)
{
	struct user_of *u;

	HASH_FIND_INT(users->by_pid, &pid, u);
	return u;
}

unsigned users_of(struct users *users, int pid)
{
	struct user_of *u = find(users, pid);

	if (u)
		return u->user;
	if (HASH_COUNT(users->by_pid) >= MAX_KEPT)
		users_free(users);
	u = xcalloc(1, sizeof(*u));
	u->pid = pid;
	u->user = proc_user(pid);
	HASH_ADD_INT(users->by_pid, pid, u);
	return u->user;
}

static void drop(struct users *users, struct user_of *u)
{
	HASH_DEL(users->by_pid, u);
	free(u);
}

void users_forget(struct users *users, int pid)
{
	struct user_of *u = find(users, pid);

	if (u)
		drop(users, u);
}

void users_free(struct users *users)
{
	struct user_of *u, *next;

	HASH_ITER(hh, users->by_pid, u, next)
		drop(users, u);
}
