/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/hash.h"
#include "base/quota.h"

struct quota_user {
	unsigned user;
	size_t used;
	bool refused;
	UT_hash_handle hh;
};

static struct quota_user *find(const struct quota *q, unsigned user)
{
	struct quota_user *u = q->last;

	if (u && u->user == user)
		return u;
	HASH_FIND(hh, q->users, &user, sizeof(user), u);
	return u;
}

static struct quota_user *find_or_add(struct quota *q, unsigned user)
{
	struct quota_user *u = find(q, user);

	if (u)
		return u;
	u = xcalloc(1, sizeof(*u));
	u->user = user;
	HASH_ADD(hh, q->users, user, sizeof(user), u);
	return u;
}

static bool refuse(const struct quota *q, struct quota_user *u, int pid)
{
	if (!u->refused && u->user == (unsigned)-1)
		warning(0, "process %d: processes that are gone have reached the limit on %s: %s", pid, q->what,
			q->loss);
	else if (!u->refused)
		warning(0, "process %d: user %u has reached the limit on %s: %s", pid, u->user, q->what,
			q->loss);
	u->refused = true;
	return false;
}

bool quota_fits(const struct quota *q, unsigned user, size_t n)
{
	const struct quota_user *u = find(q, user);
	size_t left = q->limit - q->used;

	return n <= left && (q->whole || (u ? u->used : 0) + n <= left - n);
}

bool quota_take(struct quota *q, unsigned user, int pid, size_t n)
{
	struct quota_user *u = q->last = find_or_add(q, user);

	if (!quota_fits(q, user, n))
		return refuse(q, u, pid);
	q->used += n;
	u->used += n;
	return true;
}

void quota_give(struct quota *q, unsigned user, size_t n)
{
	q->used -= n;
	find(q, user)->used -= n;
}

void quota_free(struct quota *q)
{
	struct quota_user *u, *next;

	HASH_ITER(hh, q->users, u, next) {
		HASH_DEL(q->users, u);
		free(u);
	}
	q->last = NULL;
	q->used = 0;
}
