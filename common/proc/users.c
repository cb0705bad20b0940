/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/hash.h"
#include "proc/user.h"
#include "proc/users.h"

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
