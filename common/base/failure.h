/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Why a tool cannot go on, found where it must not be ended: whoever runs the tool says it and
 * exits. */
#ifndef FAILURE_H
#define FAILURE_H
#include "base/die.h"

struct failure {
	char *text;		/* NULL: nothing failed */
	int err;		/* as of die() */
	int status;		/* to exit with: EXIT_FAILURE or EXIT_NOTHING */
};

/* Notes the message and exit status; the first failure stays. */
void failure_set(struct failure *f, int status, int err, const char *fmt, ...) PRINTF(4, 5);

/* Ends the tool as die() does, or die_status(). */
_Noreturn void failure_die(const struct failure *f);

#endif
