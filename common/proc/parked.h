/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Helpers that have not answered in time and go on by themselves.  Who asks for the same again gets
 * their answer.  Private to looks.c. */
#ifndef PARKED_H
#define PARKED_H
#include <stdbool.h>
#include "base/quota.h"
#include "proc/helper.h"

enum { PARKED_MAX = 16 };

/* What was asked. */
struct request {
	int pid;		/* on behalf of this process */
	unsigned user;
	const char *what;	/* is read, for messages */
	helper_fn *fn;
	const void *in;
	size_t size;
};

struct parked_helper {
	struct helper helper;
	struct request request;	/* with copies of what and in */
	unsigned long long since;	/* ns */
	bool said;		/* that it takes long */
	int left;		/* pid of a helper that was killed and has not ended; then the rest is void */
};

/* Starts with the quota set and the rest zeroed. */
struct parked {
	struct quota quota;	/* each helper at work or parked takes 1 */
	struct parked_helper all[PARKED_MAX];
};

/* Says that what was asked for could not be read, and how that is: " within 1 s". */
void parked_say(const struct request *r, const char *how);

/* Takes the answer to an equal request.  Returns 0; -ENOENT if there is none; -ETIME if it has not come
 * yet; -EPIPE if the helper died.  With an answer, gives the helper to *h if that is not running. */
int parked_take(struct parked *p, const struct request *r, struct helper *h, struct helper_answer *a);

/* Parks a helper that is at work for this request since then (ns), or (kill) one that is not to go on.
 * The caller has taken 1 from the quota.  h is not running afterwards. */
void parked_add(struct parked *p, const struct request *r, struct helper *h,
		unsigned long long since, bool kill);

/* Call regularly: says what takes longer than a second, ends what takes longer than half a minute. */
void parked_tick(struct parked *p);

/* Ends all, and waits for none. */
void parked_free(struct parked *p);

#endif
