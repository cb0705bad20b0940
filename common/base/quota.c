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
		warning(0, "process %d: exited processes reached the limit on %s: %s", pid, q->what,
			q->loss);
	else if (!u->refused)
		warning(0, "process %d: user %u reached the limit on %s: %s", pid, u->user, q->what,
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
	HASH_FREE(q->users);
	q->last = NULL;
	q->used = 0;
}

/* Time that a tool spends on traced programs, shared among their users: each may use a burst, and
 * then a quarter of the time; all together half of it. */

/* Of token buckets: a program that starts may have hundreds of libraries to look into. */
enum { BURST_S = 10, SHARE_OF_USER = 4, SHARE_OF_ALL = 2 };
static const long long NS_PER_S = 1000000000;

struct budget_user {
	struct { unsigned user; bool all; } key;
	long long left;			/* ns */
	unsigned long long filled;	/* when left was last increased */
	UT_hash_handle hh;
};

static struct budget_user *get(struct budget *b, unsigned user, bool all)
{
	struct budget_user want, *u;

	memset(&want, 0, sizeof(want));
	want.key.user = user;
	want.key.all = all;
	HASH_FIND(hh, b->users, &want.key, sizeof(want.key), u);
	if (u)
		return u;
	u = xcalloc(1, sizeof(*u));
	u->key = want.key;
	u->left = BURST_S * NS_PER_S;
	HASH_ADD(hh, b->users, key, sizeof(u->key), u);
	return u;
}

static bool fill(struct budget_user *u, int share, unsigned long long now)
{
	if (u->filled)
		u->left += (now - u->filled) / share;
	u->filled = now;
	if (u->left > BURST_S * NS_PER_S)
		u->left = BURST_S * NS_PER_S;
	return u->left > 0;
}

bool budget_left(struct budget *b, unsigned user, unsigned long long now)
{
	bool all = fill(get(b, 0, true), SHARE_OF_ALL, now);

	return fill(get(b, user, false), SHARE_OF_USER, now) && (all || b->each);
}

void budget_charge(struct budget *b, unsigned user, unsigned long long ns)
{
	get(b, 0, true)->left -= ns;
	get(b, user, false)->left -= ns;
}

void budget_end(struct budget *b, long long ns)
{
	for (struct budget_user *u = b->users; u; u = u->hh.next)
		if (u->key.all)
			u->left = BURST_S * NS_PER_S;
		else if (u->left > ns && u->left < BURST_S * NS_PER_S / 2)
			u->left = ns;
}

void budget_free(struct budget *b)
{
	HASH_FREE(b->users);
}
