/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Says on standard error what takes longer than a second, and how far it is. */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H
#include <stdbool.h>

/* Starts zeroed: nothing has begun, and nothing is printed. */
struct progress {
	bool hidden;		/* set by the owner: print nothing for now */
	/* private */
	unsigned long long began, next;	/* as clock_ns() */
	char text[256];
};

/* p may be NULL in all of these: then they do nothing. */

/* Call when work begins that may take long, and whenever the tool is not busy. */
void progress_begin(struct progress *p);

/* Sets what is being done now; a text that is too long is cut. */
void progress_set(struct progress *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Call every few milliseconds of the work: prints what was set last, as note() does, once a second has
 * passed since progress_begin(), and then every five. */
void progress_tick(struct progress *p);

#endif
