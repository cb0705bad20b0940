/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Elements by user in a table that all processes share: counted by bpf/lib/shares.bpf.h, and
 * given back there or by user space. */
#ifndef ABI_SHARES_H
#define ABI_SHARES_H

/* A power of two: the numbers of users.  SHARES_OTHERS is that of all users beyond. */
enum { SHARES_USERS = 1024, SHARES_OTHERS = SHARES_USERS - 1 };

struct shares {
	unsigned long long used;		/* by all */
	unsigned long long of[SHARES_USERS];	/* by the user with this number */
};

/* For user space: gives back one entry.  number comes from the entry. */
static inline void shares_give_back(struct shares *s, unsigned int number)
{
	if (number >= SHARES_USERS)
		return;
	__atomic_fetch_sub(&s->of[number], 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&s->used, 1, __ATOMIC_RELAXED);
}

/* For user space: call when the table has been emptied and no probe fills it. */
static inline void shares_clear(struct shares *s)
{
	*s = (struct shares){ 0 };
}

#endif
