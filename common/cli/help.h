/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What --help prints. */
#ifndef HELP_H
#define HELP_H
#include "cli/opt_table.h"

/* Prints the options and what is said of the tool, in lines of at most 80 columns, but for the examples, which
 * stay as they are. */
void help_print(const struct opt *opts, const struct usage *u);

#endif
