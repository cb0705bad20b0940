/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Helpers that have not answered in time and go on by themselves.  Who asks for the same again gets
 * their answer.  Private to looks.c. */
#ifndef STALLED_HELPERS_H
#define STALLED_HELPERS_H
#include <stdbool.h>
#include "base/quota.h"
#include "proc/helper.h"

enum { STALLED_MAX = 16 };

/* What was asked. */
struct request {
	int pid;		/* on behalf of this process */
	unsigned user;
	const char *what;	/* is read, for messages */
	helper_fn *fn;
	const void *in;
	size_t size;
};

struct stalled_helper {
	struct helper helper;
	struct request request;	/* with copies of what and in */
	unsigned long long since;	/* ns */
	bool said;		/* that it takes long */
	int left;		/* pid of a helper that was killed and has not ended; then the rest is void */
};

/* Starts with the quota set and the rest zeroed. */
struct stalled_helpers {
	struct quota quota;	/* each helper at work or parked takes 1 */
	struct stalled_helper all[STALLED_MAX];
};

/* Says that what was asked for could not be read, and how that is: " within 1 s". */
void stalled_say(const struct request *r, const char *how);

/* Takes the answer to an equal request.  Returns 0; -ENOENT if there is none; -ETIME if it has not come
 * yet; -EPIPE if the helper died.  With an answer, gives the helper to *h if that is not running. */
int stalled_take(struct stalled_helpers *p, const struct request *r, struct helper *h, struct helper_answer *a);

/* Parks a helper that is at work for this request since then (ns), or (kill) one that is not to go on.
 * The caller has taken 1 from the quota.  h is not running afterwards. */
void stalled_add(struct stalled_helpers *p, const struct request *r, struct helper *h,
		unsigned long long since, bool kill);

/* Call regularly: says what takes longer than a second, ends what takes longer than half a minute. */
void stalled_tick(struct stalled_helpers *p);

/* Ends all, and waits for none. */
void stalled_free(struct stalled_helpers *p);

#endif
