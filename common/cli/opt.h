/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Options as a table: each row says where its value goes.  Help, checks and shell completion
 * come from it. */
#ifndef OPT_H
#define OPT_H
#include <stdbool.h>

enum opt_type { OPT_TYPE_END, OPT_TYPE_FLAG, OPT_TYPE_NUM, OPT_TYPE_SIZE, OPT_TYPE_STR,
		OPT_TYPE_CHOICE };

struct opt {
	enum opt_type type;
	char key;		/* 0 = long name only */
	const char *name, *arg;	/* --name ARG; for a choice ARG is its words: "a|b|c" */
	void *value;		/* bool *, long *, long *, const char **, int * by type */
	const char *help;
	long min;
};

#define OPT_FLAG(k, n, v, h)        { OPT_TYPE_FLAG, k, n, 0, (bool *){ v }, h, 0 }
#define OPT_NUM(k, n, a, v, m, h)   { OPT_TYPE_NUM, k, n, a, (long *){ v }, h, m }
#define OPT_SIZE(k, n, a, v, h)     { OPT_TYPE_SIZE, k, n, a, (long *){ v }, h, 0 }
#define OPT_STR(k, n, a, v, h)      { OPT_TYPE_STR, k, n, a, (const char **){ v }, h, 0 }
#define OPT_CHOICE(k, n, a, v, h)   { OPT_TYPE_CHOICE, k, n, a, (int *){ v }, h, 0 }
#define OPT_END                     { OPT_TYPE_END, 0, 0, 0, 0, 0, 0 }

/* what a tool is, for --help: its operands, one sentence, examples a line each */
struct usage { const char *args, *what, *examples; };

/* Fills the rows' values from the command line; --help and --version print and exit 0, a
 * mistake names the option and what was expected and exits 2.  A choice's value is the
 * index of its word.  Returns the index of the first argument that is not an option. */
int opt_parse(int argc, char **argv, const struct opt *opts, const struct usage *u);

/* Reads the operands [interval [count]] at argv[first]: whole numbers from 1, in place of
 * what *interval (seconds) and *count hold.  Exits 2 on anything else. */
void opt_interval(int argc, char **argv, int first, long *interval, long *count);

/* Exits 2 if there is an operand. */
void opt_no_operands(int argc, char **argv, int first);

/* Prints "tool: MESSAGE" and how to get help, exits 2. */
_Noreturn void usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Splits "12,34" into process ids; exits 2 if that is not what it is.  The array ends with
 * a 0 and is the caller's. */
int *parse_pids(const char *s);

#endif
