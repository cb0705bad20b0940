/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Messages from one rank to another that the other does not receive, or has not sent. */
#ifndef NCCLHANG_MESSAGES_H
#define NCCLHANG_MESSAGES_H
#include <stdbool.h>
#include <stddef.h>

struct hang;
struct hang_rank;

struct unmatched {
	const struct hang_rank *rank, *peer;	/* rank waits for peer */
	bool sends;			/* rank; else it receives */
	unsigned long long number, peers;	/* calls of each with the other; number 0: not known */
};

/* Calls fn for each other rank that a rank waits for with a message.  Without the numbers of calls, such as of a communicator
 * that was made before tracing began, the last operation of each decides. */
void messages_each(const struct hang *h, const struct hang_rank *r, void (*fn)(void *ctx, const struct unmatched *u), void *ctx);

/* Sets the verdict and the culprits if ranks wait for such messages; else returns false. */
bool messages_judge(struct hang *h);

/* Returns the first message for which a rank, or with NULL any, waits for another one; its rank is NULL if there is none. */
struct unmatched messages_find(const struct hang *h, const struct hang_rank *from, const struct hang_rank *to);

/* Prints who waits for whom with what, as a sentence without an end. */
void messages_print(const struct hang *h);

#endif
