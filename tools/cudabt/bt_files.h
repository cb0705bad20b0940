/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The files that a script probes, and the names it uses for them. */
#ifndef BT_FILES_H
#define BT_FILES_H
#include <stdbool.h>
#include <sys/types.h>
#include "cudabt/bt_translate.h"
#include "elf/elf.h"
#include "probe/dso.h"

struct bt_files {
	struct dso **dsos;
	int *pids, n;		/* a process that has the file mapped, or 0 */
};

/* Returns false if the file was already there. */
bool bt_files_add(struct bt_files *f, struct dso *c, int pid);

/* Names the files for a script, *n of them.  A script that is run refers to a stand-in of each
 * file, in the order of f: see bt_uprobes.h.  A script to be kept (to_stay) uses names: a file that
 * no name refers to (it was deleted or replaced), or whose name cannot be written in a script, is
 * skipped with a message, and a name that a non-root user can redirect gets a warning.  Free the
 * result with bt_files_named_free(). */
struct bt_file *bt_files_named(const struct bt_files *f, bool to_stay, int *n);
void bt_files_named_free(struct bt_file *files, int n);

/* Does not free the files themselves. */
void bt_files_free(struct bt_files *f);

/* Returns the number in scan->probes of the function at an offset in that file; -1 if there is
 * none. */
int bt_standin_probe(const struct elf_scan *scan, unsigned long long offset);

/* Return true if a user who is neither root nor the caller can.  *uid is the owner of a directory
 * or link on the way, or of the file; 65534 if everyone may write to it.  What cannot be inspected
 * counts as writable by everyone.  Follows at most 40 links, as the kernel does. */
bool path_uid(const char *path, uid_t *uid);

#endif
