/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A fatal error in code that must not exit itself: it is recorded here, and whoever runs the tool
 * prints it and exits. */
#ifndef BASE_FAILURE_H
#define BASE_FAILURE_H
#include "base/die.h"

struct failure {
	char *text;		/* NULL: nothing failed */
	int err;		/* as for die() */
	int status;		/* exit status: EXIT_FAILURE or EXIT_NOTHING */
};

/* Records the message and exit status; keeps only the first failure. */
void failure_set(struct failure *f, int status, int err, const char *fmt, ...) PRINTF(4, 5);

/* Exits through die() or die_status(). */
_Noreturn void failure_die(const struct failure *f);

#endif
