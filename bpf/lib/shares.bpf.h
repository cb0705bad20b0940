/* SPDX-License-Identifier: GPL-2.0 */
/* Tables that all processes share, and that no user may fill: a user has at most as many entries as are still free, so a
 * single user gets half, the next one half of the rest.  common/base/quota.h does the same for the tool's memory.  Only the
 * creation of an entry pays for this. */
#ifndef LIB_SHARES_BPF_H
#define LIB_SHARES_BPF_H
#include "lib/task.bpf.h"
#include "abi/shares.h"

/* Each user's id + 1, at its number. */
static __u64 share_users[SHARES_USERS];

/* The number of the calling thread's user. */
GLOBAL_SUBPROG __u32 share_number(void)
{
	__u64 user = share_user() + 1ull, old;
	__u32 at = user * 0x9e3779b97f4a7c15 >> 32;

	for (int i = 0; i < 16; i++, at++) {
		at &= SHARES_USERS - 1;
		if (at == SHARES_OTHERS)
			continue;
		old = *(volatile __u64 *)&share_users[at];
		if (!old)
			old = __sync_val_compare_and_swap(&share_users[at], 0, user) ?: user;
		if (old == user)
			return at;
	}
	return SHARES_OTHERS;
}

/* Makes a number an index that the verifier accepts. */
static __always_inline __u32 share_index(__u32 number)
{
	return bounded(number & (SHARES_USERS - 1), SHARES_USERS - 1);
}

/* Takes an entry of a table that has room for limit.  Returns the user's number, for share_give_back(); SHARES_USERS if the
 * user has its share. */
static __always_inline __u32 share_take(struct shares *s, __u64 limit)
{
	__u32 number = share_index(share_number());
	__u64 used = *(volatile __u64 *)&s->used;

	if (used + *(volatile __u64 *)&s->of[number] >= limit)
		return SHARES_USERS;
	__sync_fetch_and_add(&s->used, 1);
	__sync_fetch_and_add(&s->of[number], 1);
	return number;
}

static __always_inline void share_give_back(struct shares *s, __u32 number)
{
	if (number >= SHARES_USERS)
		return;
	__sync_fetch_and_add(&s->used, -1);
	__sync_fetch_and_add(&s->of[share_index(number)], -1);
}

/* Adds a key to a hash map, and sets *number, which may be in the value, to its share.  Returns false if the map has the key
 * already, is full, or the user has its share. */
static __always_inline bool share_add(void *map, const void *key, const void *value, __u32 *number, struct shares *s,
				      __u64 limit)
{
	*number = share_take(s, limit);
	if (*number >= SHARES_USERS)
		return false;
	if (!bpf_map_update_elem(map, key, value, BPF_NOEXIST))
		return true;
	share_give_back(s, *number);
	return false;
}

#endif
