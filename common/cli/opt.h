/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Table-driven options: each row says where to store its value.  Help, checks and shell completion
 * come from the table. */
#ifndef CLI_OPT_H
#define CLI_OPT_H
#include "cli/opt_table.h"

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
