/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Table-driven options: each row says where to store its value.  Help, checks and shell completion
 * come from the table. */
#ifndef OPT_H
#define OPT_H
#include <stdbool.h>
#include "cli/value.h"

enum opt_type { OPT_TYPE_END, OPT_TYPE_FLAG, OPT_TYPE_NUM, OPT_TYPE_SIZE, OPT_TYPE_TIME,
		OPT_TYPE_STR, OPT_TYPE_CHOICE, OPT_TYPE_COMMAND };

struct opt {
	enum opt_type type;
	char key;		/* 0 = long name only */
	const char *name, *arg;	/* --name ARG; for a choice ARG lists the words: "a|b|c" */
	void *value;		/* bool *, long *, long *, long * (ns), const char **, int * by type */
	const char *help;
	long min;
	long unit;		/* of a duration without one, ns */
	const char *(*words)(int i);	/* of a list: the i-th word that it can have, NULL at the end */
};

#define OPT_FLAG(k, n, v, h)        { OPT_TYPE_FLAG, k, n, 0, (bool *){ v }, h, 0, 0, 0 }
#define OPT_NUM(k, n, a, v, m, h)   { OPT_TYPE_NUM, k, n, a, (long *){ v }, h, m, 0, 0 }
#define OPT_SIZE(k, n, a, v, h)     { OPT_TYPE_SIZE, k, n, a, (long *){ v }, h, 0, 0, 0 }
/* a duration in ns, at least m; u ns is the unit of a number alone: VALUE_S and so on (value.h) */
#define OPT_TIME(k, n, a, v, u, m, h) { OPT_TYPE_TIME, k, n, a, (long *){ v }, h, m, u, 0 }
#define OPT_STR(k, n, a, v, h)      { OPT_TYPE_STR, k, n, a, (const char **){ v }, h, 0, 0, 0 }
#define OPT_CHOICE(k, n, a, v, h)   { OPT_TYPE_CHOICE, k, n, a, (int *){ v }, h, 0, 0, 0 }
/* words between commas, which completion offers */
#define OPT_LIST(k, n, a, v, w, h)  { OPT_TYPE_STR, k, n, a, (const char **){ v }, h, 0, 0, w }
/* a command for the shell: quoted, if it has arguments */
#define OPT_CMD(k, n, a, v, h)      { OPT_TYPE_COMMAND, k, n, a, (const char **){ v }, h, 0, 0, 0 }
#define OPT_END                     { .type = OPT_TYPE_END }

/* What --help prints about a tool: its operands, one sentence, examples on a line each. */
struct usage { const char *args, *what, *examples; };

/* Sets the rows' values from the command line.  --help and --version print and exit 0; on an
 * error, names the option and what was expected, and exits 2.  A choice's value is the
 * index of its word.  Leaves the arguments that are not options in argv, sets *argc to where they end,
 * and returns the index of the first one.  *command is what follows "--", ended by NULL; NULL if there
 * is no "--". */
int opt_parse(int *argc, char **argv, const struct opt *opts, const struct usage *u, char ***command);

/* Parses the operands [interval [count]] at argv[first], which override *interval (ns; a number alone is
 * seconds) and *count.  Exits 2 on anything else. */
void opt_interval(int argc, char **argv, int first, long *interval, long *count);

/* Exits 2 if there is an operand. */
void opt_no_operands(int argc, char **argv, int first);

/* Prints "tool: MESSAGE" and how to get help, then exits 2. */
_Noreturn void usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
