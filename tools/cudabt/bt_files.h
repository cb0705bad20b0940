/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The files that a script probes, and the names it uses for them. */
#ifndef CUDABT_BT_FILES_H
#define CUDABT_BT_FILES_H
#include <stdbool.h>
#include "cudabt/bt_translate.h"
#include "elf/elf.h"
#include "probe/dso.h"

struct bt_files {
	struct dso **dsos;
	int *pids, n;		/* a process that has the file mapped, or 0 */
};

/* Returns false if the file was already there. */
bool bt_files_add(struct bt_files *f, struct dso *c, int pid);

/* Names the files for a script, *n of them; free the result with bt_files_named_free().
 *
 * A script that is run uses a stand-in for each file, in the order of f: bpftrace reads symbols as root and
 * opens the file that .gnu_debuglink names, so it must not see another user's file.
 *
 * With emit, the script uses paths.  A file without a path (deleted or replaced), or whose path cannot be
 * written in a script, is skipped with a message; a path that an unprivileged user can redirect gets a
 * warning. */
struct bt_file *bt_files_named(const struct bt_files *f, bool emit, int *n);
void bt_files_named_free(struct bt_file *files, int n);

/* Does not free the files themselves. */
void bt_files_free(struct bt_files *f);

/* Returns the index in scan->probes of the function at an offset in the stand-in, or -1. */
int bt_standin_probe(const struct elf_scan *scan, unsigned long long offset);

#endif
