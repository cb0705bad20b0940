/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Whose the series are: of each process or, with --by, of all with the same labels; how many there may be, and how
 * long they stay when their processes have ended. */
#ifndef OWNERS_H
#define OWNERS_H
#include "base/quota.h"
#include "cudaexporter/labels.h"
#include "cudaexporter/series.h"

struct owners {			/* set the first three, then call owners_init() */
	struct labels labels;
	struct series_table *table;
	long most;		/* --max-processes: of one user; all users may have twice as many */
	struct owner *all, *other;	/* other: of all that are too many */
	struct quota quota;
	unsigned long long dropped;	/* processes that there was no room for */
};

void owners_init(struct owners *w);

/* Frees them, with their series. */
void owners_free(struct owners *w);

/* Returns the owner of a process's series, which counts for it from now on.  Call owners_end() when the process has
 * ended, and then owners_leave() when what it counted has been read. */
struct owner *owners_join(struct owners *w, int pid, unsigned user, const struct identity *id);
void owners_end(struct owner *o);
void owners_leave(struct owner *o);

/* Call in place of both where a process that has counted nothing is another owner's after all. */
void owners_take_back(struct owners *w, struct owner *o);

/* Call when a page was made for a reader (SCRAPERS: for none): removes the owners that ended, and that every reader
 * that is active (a mask) has seen since, or five minutes ago. */
void owners_paged(struct owners *w, unsigned reader, unsigned active);

#endif
