/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Time that a tool spends on traced programs, shared among their users: each may use a burst, and
 * then a quarter of the time; all together half of it. */
#ifndef BUDGET_H
#define BUDGET_H
#include <stdbool.h>

struct budget_user;

/* Starts zeroed. */
struct budget {
	struct budget_user *users;
};

/* Return true if there is time left for this user.  now: clock_ns(). */
bool budget_left(struct budget *b, unsigned user, unsigned long long now);

/* Charges the user for ns; he may overdraw by one charge. */
void budget_charge(struct budget *b, unsigned user, unsigned long long ns);

/* Call at last, when there is another bound for all together: who has used up half of his burst gets at
 * most ns more, so that there is time for the others. */
void budget_end(struct budget *b, long long ns);

void budget_free(struct budget *b);

#endif
