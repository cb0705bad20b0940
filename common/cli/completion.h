/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Shell completion, generated from a tool's options. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

struct opt;

/* The shells, in this order. */
#define COMPLETION_SHELLS "bash|zsh|fish"

/* Prints the completion of the tool for the shell with this index on standard output. */
void completion_print(int shell, const struct opt *opts);

#endif
