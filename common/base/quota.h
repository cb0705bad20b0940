/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A limit on what traced programs can make a tool keep, shared so that no user can take it all: a
 * user may hold at most as much as is still free.  One user alone gets half of the limit, the next
 * one half of the rest (A. K. Choudhury, E. L. Hahne, "Dynamic queue length thresholds", 1998). */
#ifndef BASE_QUOTA_H
#define BASE_QUOTA_H
#include <stdbool.h>
#include <stddef.h>

struct budget_user;
struct quota_user;

/* Starts with the first three set, whole if need be, and the rest zeroed. */
struct quota {
	size_t limit;		/* in any unit: bytes, entries */
	const char *what;	/* is limited: "kernel names" … */
	const char *loss;	/* … and then left out: "further kernels are shown as addresses" */
	bool whole;		/* one user may take all: no other user is traced */
	size_t used;
	struct quota_user *users;
	struct quota_user *last;	/* that took something: most take again */
};

/* Starts zeroed, but for the first one. */
struct budget {
	bool each;		/* no limit for all together: no user takes others' time */
	struct budget_user *users;
};

/* Takes n for a user.  user is what proc_user() returns, -1: unknown; pid is for the message.  Returns
 * false at the limit, and then warns once for each user. */
bool quota_take(struct quota *q, unsigned user, int pid, size_t n);

/* Return true if quota_take() would take n. */
bool quota_fits(const struct quota *q, unsigned user, size_t n);

/* Gives back what quota_take() took for this user. */
void quota_give(struct quota *q, unsigned user, size_t n);

/* Frees what q allocated. */
void quota_free(struct quota *q);

/* Return true if there is time left for this user.  now: clock_ns(). */
bool budget_left(struct budget *b, unsigned user, unsigned long long now);

/* Charges the user for ns; he may overdraw by one charge. */
void budget_charge(struct budget *b, unsigned user, unsigned long long ns);

/* Call at last, when there is another bound for all together: who has used up half of his burst gets at
 * most ns more, so that there is time for the others. */
void budget_end(struct budget *b, long long ns);

void budget_free(struct budget *b);

#endif
