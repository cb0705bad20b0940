/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the numbers of a process hint at, and the commands that show more of it. */
#ifndef CUDATOP_HINTS_H
#define CUDATOP_HINTS_H
#include <stdbool.h>

struct top_row;

struct top_hint {
	const char *word;
	bool (*applies)(const struct top_row *r);
	const char *command;	/* to which -p PID is added … */
	bool stacks;		/* … and, for Python, --stack python: it prints call stacks */
	const char *shows;
};

/* The most urgent first, NULL at the end; a word with several commands comes several times. */
extern const struct top_hint top_hints[];

/* Returns the word of the first hint that applies; - if none does. */
const char *top_hint_word(const struct top_row *r);

#endif
