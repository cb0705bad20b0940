/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The graph of who waits for whom, over all communicators of a job: the cause of a hang.
 *
 * Processes and communicators are nodes.  A process waits in a communicator for those of its ranks that keep the others waiting, or
 * for another process to which it sends or from which it receives.  What waits for nothing, or for itself, is a cause. */
#ifndef NCCLHANG_WAIT_GRAPH_H
#define NCCLHANG_WAIT_GRAPH_H
#include <stdbool.h>
#include <stddef.h>

struct hang;
struct hang_rank;
struct hangs;

enum cause_kind {
	CAUSE_ROOT,	/* processes that others wait for, and that wait for none of them */
	CAUSE_CIRCLE,	/* processes that wait for each other */
	CAUSE_GROUP,	/* a communicator: its ranks differ, are elsewhere, or have all come */
	CAUSE_KINDS
};

/* The word for it in JSON and in text. */
extern const char *const cause_words[CAUSE_KINDS];

struct wait_step {
	const struct hang *h;		/* in which it waits */
	const struct hang_rank *from, *to;	/* from: NULL at a root */
	bool message;			/* it sends to the other, or receives from it; else it is a collective */
};

struct cause {
	enum cause_kind kind;
	/* Of roots one for each, of a circle from each process to the next and from the last to the first, of a communicator one
	 * that has only h. */
	struct wait_step *steps;
	size_t n;
	const struct hang **groups;	/* the communicators that wait for it, each with one cause only */
	size_t ngroups;
	size_t waiting;			/* processes that wait for it, or are in it, without roots */
	size_t part;			/* private */
};

struct causes {
	struct cause *all;		/* those that most processes wait for first */
	size_t n;
};

/* Returns the causes of the communicators that hang.  They point to h; the caller frees them by causes_free(). */
struct causes causes_find(const struct hangs *h);

void causes_free(struct causes *c);

#endif
