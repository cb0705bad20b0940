/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Hints that the numbers of a process give, with the evidence, and the commands that show more of it. */
#ifndef CUDATOP_HINTS_H
#define CUDATOP_HINTS_H
#include <stdbool.h>
#include <stddef.h>
#include "cudatop/rows.h"

enum hint_kind {
	HINT_FIRST,	/* comes before all others: these may follow from it */
	HINT_TIME,	/* explains a share of the time … */
	HINT_MEMORY,	/* … or of the memory */
	HINT_REST,	/* applies only if nothing else explains the time */
};

/* What is added to a command. */
enum hint_adds {
	HINT_PID,	/* -p PID */
	HINT_STACKS,	/* the same and, for Python, --stack python: it prints call stacks */
	HINT_ALL,	/* nothing: it needs all processes */
};

enum { HINT_COMMANDS = 2 };

struct top_hint {
	const char *word;
	enum hint_kind kind;
	/* Returns the share of the interval, or of the memory, that it explains; 0: it does not apply. */
	double (*explains)(const struct top_row *r);
	/* Writes what was measured. */
	void (*evidence)(const struct top_row *r, char text[HINT_EVIDENCE]);
	struct {
		const char *command;
		enum hint_adds adds;
		const char *shows;
	} commands[HINT_COMMANDS];	/* the second one may be missing: NULL */
};

enum { TOP_HINTS = 16 };

/* Sets those that apply, the one that explains most first; returns how many. */
size_t top_hints(const struct top_row *r, const struct top_hint *hints[TOP_HINTS]);

/* Writes the command number i of a hint for a process. */
void top_hint_command(const struct top_hint *h, int i, int pid, bool python, char text[HINT_COMMAND]);

/* Sets hint, evidence and next of a row: those of the first one. */
void top_hint_set(struct top_row *r);

/* Return true if the process's program is an interpreter of Python: one that is only a library is not noticed. */
bool top_runs_python(int pid);

#endif
