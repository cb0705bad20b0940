/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The rows of a table of options. */
#ifndef CLI_OPT_TABLE_H
#define CLI_OPT_TABLE_H
#include <stdbool.h>
#include "cli/value.h"

enum opt_type { OPT_TYPE_END, OPT_TYPE_FLAG, OPT_TYPE_COUNT, OPT_TYPE_NUM, OPT_TYPE_SIZE, OPT_TYPE_TIME,
		OPT_TYPE_STR, OPT_TYPE_MANY, OPT_TYPE_CHOICE, OPT_TYPE_COMMAND };

/* Values of an option that may be given several times: OPT_TYPE_MANY.  Starts zeroed. */
struct opt_many {
	const char **list;
	int n;
};

struct opt {
	enum opt_type type;
	char key;		/* 0 = long name only */
	const char *name, *arg;	/* --name ARG; for a choice ARG lists the words: "a|b|c" */
	void *value;		/* bool *, int *, long *, long *, long * (ns), const char **,
				 * struct opt_many *, int * by type */
	const char *help;
	long min;
	long unit;		/* of a duration without one, ns */
	const char *(*words)(int i);	/* of a list: the i-th word that it can have, NULL at the end */
};

#define OPT_FLAG(k, n, v, h)        { OPT_TYPE_FLAG, k, n, 0, (bool *){ v }, h, 0, 0, 0 }
/* how often it is given, as -tt */
#define OPT_COUNT(k, n, v, h)       { OPT_TYPE_COUNT, k, n, 0, (int *){ v }, h, 0, 0, 0 }
#define OPT_NUM(k, n, a, v, m, h)   { OPT_TYPE_NUM, k, n, a, (long *){ v }, h, m, 0, 0 }
#define OPT_SIZE(k, n, a, v, h)     { OPT_TYPE_SIZE, k, n, a, (long *){ v }, h, 0, 0, 0 }
/* a duration in ns, at least m; u ns is the unit of a number alone: VALUE_S and so on (value.h) */
#define OPT_TIME(k, n, a, v, u, m, h) { OPT_TYPE_TIME, k, n, a, (long *){ v }, h, m, u, 0 }
#define OPT_STR(k, n, a, v, h)      { OPT_TYPE_STR, k, n, a, (const char **){ v }, h, 0, 0, 0 }
#define OPT_CHOICE(k, n, a, v, h)   { OPT_TYPE_CHOICE, k, n, a, (int *){ v }, h, 0, 0, 0 }
/* as often as it is given */
#define OPT_MANY(k, n, a, v, h)     { OPT_TYPE_MANY, k, n, a, (struct opt_many *){ v }, h, 0, 0, 0 }
/* words between commas, which completion offers */
#define OPT_LIST(k, n, a, v, w, h)  { OPT_TYPE_STR, k, n, a, (const char **){ v }, h, 0, 0, w }
/* a command for the shell: quoted, if it has arguments */
#define OPT_CMD(k, n, a, v, h)      { OPT_TYPE_COMMAND, k, n, a, (const char **){ v }, h, 0, 0, 0 }
#define OPT_END                     { .type = OPT_TYPE_END }

/* Text of --help about a tool: its operands, one sentence, examples on a line each. */
struct usage {
	const char *args, *what, *examples;
	char other;		/* a letter that users of a like tool type, and this one has not; 0: none */
	const char *hint;	/* what a message adds about it */
};

#endif
