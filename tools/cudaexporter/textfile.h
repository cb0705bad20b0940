/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A page as a file, for the textfile collector of node_exporter. */
#ifndef TEXTFILE_H
#define TEXTFILE_H
#include <stdbool.h>
#include <stdio.h>

/* Writes what page() writes to a new file beside path, mode 0644, and renames it: who reads path finds one page
 * or the other, whole.  Returns false, with a warning, if that fails; path is then as it was. */
bool textfile_write(const char *path, bool (*page)(void *ctx, FILE *f), void *ctx);

#endif
